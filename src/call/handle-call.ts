import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../context.ts';
import { type ServiceError, serviceError } from '../errors.ts';
import type { Dialect } from '../protocol/conversation.ts';
import type { JsonFragment, JsonFragments } from '../protocol/json/fragment.ts';
import { upstreamBody } from '../protocol/upstream-body.ts';
import { admitCall, type CapturedCall } from './admit-call.ts';
import type { AgentChannel } from './agent-channel.ts';
import { conversionOptions, replyOptions, upstreamFields, upstreamMessages } from './call-settings.ts';
import { callWorkerOnce, type WorkerOutcome } from './call-worker.ts';
import { recordFailure } from './commit-record.ts';
import { explainAdmission } from './explain-admission.ts';
import { type Evidence, gatherEvidence } from './gather-evidence.ts';
import { type CallFailure, handOver, watchHandOver } from './hand-over.ts';
import { identifyAttempt, PARENT_HEADER } from './identify-attempt.ts';
import { inTime } from './in-time.ts';
import { joinCall } from './join-call.ts';
import { type ParsedCall, parseCall, requestDigest } from './parse-call.ts';
import { handlePlainCall } from './plain-call.ts';
import { type AdmittedCall, settleCall } from './settle-call.ts';

/** A request as the routes hand it over. */
export interface IncomingCall {
  readonly dialect: Dialect;
  /** The attempt of the URL, unchecked; null on plain paths. */
  readonly attempt: string | null;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came, decompressed. */
  readonly body: Buffer;
}

/**
 * One call from its request to its reply, every step by name (protocol section 1):
 * identify the attempt → parse and convert → gather evidence → admit (intent and proposal, one atomic step) → worker → coordinates → reply rendered →
 * record durable → reply sent. The steps between worker and record are {@link settleCall}; they go on when the agent hangs up.
 *
 * Bodies are most of the memory that a call takes. So no function that waits for the worker or the commit of a captured call has one: each hands on what is left of the
 * call and is over.
 */
export function handleCall(ctx: Context, incoming: IncomingCall, channel: AgentChannel): Promise<void> {
  const { dialect, attempt } = incoming;
  const startedMs = performance.now();
  return finishCall(
    ctx,
    { dialect, attempt, startedMs },
    ctx.running.addRequest(takeCall(ctx, incoming, channel)),
    channel,
  );
}

async function finishCall(
  ctx: Context,
  call: { readonly dialect: Dialect; readonly attempt: string | null; readonly startedMs: number },
  taken: Promise<CallFailure>,
  channel: AgentChannel,
): Promise<void> {
  const error = await taken;
  if (error !== null) {
    if (error.refusedBeforeInference) ctx.events.refused(call.attempt, call.dialect, error.error.code);
    channel.fail(error.error);
  }
  const elapsedS = (performance.now() - call.startedMs) / 1000;
  ctx.events.finished(call.dialect, call.attempt !== null, channel.sentStatus, elapsedS);
}

function refusal(error: ServiceError): CallFailure {
  return { error, refusedBeforeInference: true };
}

async function takeCall(ctx: Context, incoming: IncomingCall, channel: AgentChannel): Promise<CallFailure> {
  if (ctx.lifecycle.draining) {
    return refusal(serviceError('shutting_down', 'This server is stopping. Send the request again.'));
  }
  if (ctx.running.waitedFor() >= ctx.config.limits.concurrent_calls) {
    return refusal(
      serviceError('rate_limit_exceeded', 'This server has reached its limit of calls in flight. Try again shortly.'),
    );
  }
  const parseMs = performance.now();
  const target = identifyAttempt(incoming.attempt, incoming.dialect, incoming.headers[PARENT_HEADER]);
  if ('status' in target) return refusal(target);
  const seen = target.attempt === null ? null : ctx.histories.of(target.attempt, incoming.dialect);
  const parsed = parseCall(
    incoming.dialect,
    incoming.body,
    conversionOptions(ctx, incoming),
    ctx.config.limits.json_depth,
    seen,
  );
  if ('status' in parsed) return refusal(parsed);
  ctx.events.stripped(parsed.request.stripped);
  ctx.events.ignored(target.attempt, incoming.dialect, parsed.request.ignored);
  ctx.events.phase('parse', performance.now() - parseMs);

  const fields = upstreamFields(ctx, parsed.request);
  if (target.attempt === null)
    return handlePlainCall(ctx, { request: parsed.request, fields, body: parsed.body }, channel);

  const evidenceMs = performance.now();
  const evidence = gatherEvidence(parsed.request.messages, fields, ctx.config.lineage.reasoning);
  if ('status' in evidence) return refusal(evidence);
  if (seen !== null) ctx.histories.remember(target.attempt, incoming.dialect, seen, parsed.body);
  ctx.events.phase('evidence', performance.now() - evidenceMs);
  return captureCall(ctx, { ...parsed, fields, evidence }, target.attempt, target.namedParent, incoming, channel);
}

type PreparedCall = ParsedCall & { readonly fields: ReadonlyMap<string, JsonFragment>; readonly evidence: Evidence };

async function captureCall(
  ctx: Context,
  prepared: PreparedCall,
  attempt: string,
  namedParent: string | null | undefined,
  incoming: IncomingCall,
  channel: AgentChannel,
): Promise<CallFailure> {
  const call: CapturedCall = { attempt, namedParent, callId: ctx.newCallId(), admittedAtS: ctx.nowS() };
  const idempotencyKey = incoming.headers['idempotency-key'];
  const resend = {
    requestDigest: requestDigest(incoming.dialect, prepared.body, prepared.evidence.identity, namedParent),
    idempotencyKey: typeof idempotencyKey === 'string' && idempotencyKey !== '' ? idempotencyKey : null,
  };
  const admitMs = performance.now();
  let admitted = await admitCall(ctx, call, prepared.evidence, resend);
  ctx.events.phase('admit', performance.now() - admitMs);

  const { request } = prepared;
  channel.awaitAnswer(request.stream, {
    graceMs: ctx.config.sse.grace_s * 1000,
    keepaliveMs: ctx.config.sse.keepalive_s * 1000,
  });
  if ('kind' in admitted && admitted.kind === 'joined') {
    const joined = await joinCall(ctx, { attempt, callId: admitted.callId }, request, channel, call.callId);
    if (joined !== 'gone') return joined;
    // Nothing is kept of the call that it repeats: it runs as a call of its own.
    admitted = await admitCall(ctx, call, prepared.evidence, null);
  }
  if ('status' in admitted) return refusal(admitted);
  switch (admitted.kind) {
    case 'joined':
      throw new Error('a call without a re-send key was joined');
    case 'unresolved':
      ctx.events.unresolved(call);
      return handlePlainCall(ctx, { request, fields: prepared.fields, body: prepared.body, captured: call }, channel);
    case 'admitted':
      break;
    default: {
      const never: never = admitted;
      return never;
    }
  }
  ctx.events.admitted(call, admitted);
  channel.name(call.callId);
  watchHandOver(ctx, call, channel, call.callId);
  const { fields, evidence } = prepared;
  return serveCall(ctx, channel, {
    call,
    request,
    fields,
    evidence,
    candidate: admitted.candidate,
    outcome: askWorker(ctx, prepared, call, admitted.candidate),
    replyOptions: replyOptions(ctx, call.callId, true),
    whyRoot: explainAdmission(ctx, call, { request, fields, evidence }, admitted),
  });
}

/** Waits for an admitted call and gives its agent the reply. */
async function serveCall(
  ctx: Context,
  channel: AgentChannel,
  admitted: Omit<AdmittedCall, 'isLate'>,
): Promise<CallFailure> {
  const { call } = admitted;
  let late = false;
  const settled = settleCall(ctx, { ...admitted, isLate: () => late });
  ctx.running.add(settled);
  ctx.running.publish(call.callId, settled);
  const result = await inTime(ctx, settled, () => {
    late = true;
    return recordFailure(
      ctx,
      call,
      'request_finished_without_staged_coordinates',
      'the deadline of the call was reached',
    );
  });
  return handOver(result, admitted.request.stream, channel);
}

/** Never throws at once: a defect of ours is settled like every other one, by {@link settleCall}. */
async function askWorker(
  ctx: Context,
  prepared: PreparedCall,
  call: CapturedCall,
  candidate: AdmittedCall['candidate'],
): Promise<WorkerOutcome> {
  return callWorkerOnce(ctx, call.attempt, capturedBody(ctx, prepared, call, candidate));
}

function capturedBody(
  ctx: Context,
  prepared: PreparedCall,
  call: CapturedCall,
  candidate: AdmittedCall['candidate'],
): Buffer {
  const { evidence } = prepared;
  const admission = { ...call, candidate, items: evidence.items, renderDigest: evidence.renderDigest };
  return upstreamBody({
    model: null,
    messages: upstreamMessages(ctx, prepared.request, prepared.body),
    fields: prepared.fields,
    extra: new Map<string, JsonFragments>([['stream', 'false'], ...ctx.strategy.upstreamFields(admission)]),
  });
}
