import type { Context } from '../context.ts';
import { relayedCompletion } from '../protocol/chat/relay.ts';
import type { ConvertedRequest } from '../protocol/conversation.ts';
import { ENGINE_SKIP, isAnswerProblem, parseEngineAnswer, UNFINISHED_REASONS } from '../protocol/engine-answer.ts';
import type { JsonFragment } from '../protocol/json/fragment.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { upstreamBody } from '../protocol/upstream-body.ts';
import type { CapturedCall } from './admit-call.ts';
import type { AgentChannel } from './agent-channel.ts';
import { replyOptions, upstreamMessages } from './call-settings.ts';
import { CHAT_PATH, callWorkerRetrying, type WorkerOutcome } from './call-worker.ts';
import type { CallFailure } from './hand-over.ts';
import { plainLimits } from './plain-limits.ts';
import { relayChatStream } from './relay-stream.ts';
import { renderAgain } from './render-reply.ts';
import { failed, failureOf } from './worker-failure.ts';

/** A request that is answered without capture: a plain path, or (schema 2) a call whose parent was not found. */
export interface PlainCall {
  readonly request: ConvertedRequest;
  readonly fields: ReadonlyMap<string, JsonFragment>;
  readonly body: JsonNode;
  /** Set for a call of a captured path: its reply holds to the rules of capture all the same. */
  readonly captured?: CapturedCall;
}

/**
 * Plain proxying (protocol section 2): same conversions, same errors, nothing recorded. An uncaptured Chat reply is passed on as the engine gave it, a stream as it
 * comes; the other dialects are rendered from the finished answer.
 */
export async function handlePlainCall(ctx: Context, plain: PlainCall, channel: AgentChannel): Promise<CallFailure> {
  const { request, captured } = plain;
  const callId = captured?.callId ?? ctx.newCallId();
  channel.name(callId);
  const limits = plainLimits(ctx, channel);
  if (isRelayed(plain) && request.stream) {
    const relayed = await relayChatStream(ctx, chatBody(ctx, plain, true), channel, limits);
    return relayed === null || 'error' in relayed
      ? relayed
      : sendAnswer(ctx, plain, callId, relayed.completion, channel);
  }

  if (captured === undefined) {
    channel.awaitAnswer(request.stream, {
      graceMs: ctx.config.sse.grace_s * 1000,
      keepaliveMs: ctx.config.sse.keepalive_s * 1000,
    });
  }
  const sent = chatBody(ctx, plain, false);
  const outcome = await callWorkerRetrying(ctx, captured?.attempt ?? null, CHAT_PATH, sent, limits.signal);
  const failure = failureOf(ctx, outcome, limits.deadline);
  if (failure !== null) return failure;
  return sendAnswer(ctx, plain, callId, (outcome as Extract<WorkerOutcome, { kind: 'response' }>).body, channel);
}

/** Whether the agent gets what the engine said, and not a reply that is rendered from it. */
function isRelayed({ request, captured }: PlainCall): boolean {
  return request.dialect === 'chat' && captured === undefined;
}

/** Sends a finished answer in the form that was asked for. */
function sendAnswer(ctx: Context, plain: PlainCall, callId: string, body: Buffer, channel: AgentChannel): CallFailure {
  const { request, captured } = plain;
  const node = parseJson(body, { skip: ENGINE_SKIP, allowNonFinite: true });
  if (isRelayed(plain) && !request.stream && !isJsonProblem(node)) {
    channel.send(relayedCompletion(node, request.replyContext.clientTools) ?? body, false);
    return null;
  }
  const answer = isJsonProblem(node) ? node : parseEngineAnswer(node, { callId });
  if ('problem' in answer || isAnswerProblem(answer))
    return failed('worker_failed', `The inference worker gave an unusable answer: ${answer.problem}.`);
  if (UNFINISHED_REASONS.has(answer.finishReason))
    return failed('worker_failed', `The inference worker gave up on this call (${answer.finishReason}).`);
  channel.send(renderAgain(request, answer, replyOptions(ctx, callId, captured !== undefined)), request.stream);
  return null;
}

function chatBody(ctx: Context, plain: PlainCall, stream: boolean): Buffer {
  const options = plain.body.get('stream_options');
  const extra = new Map<string, JsonFragment>([['stream', String(stream)]]);
  if (stream && options !== undefined && !options.isNull()) extra.set('stream_options', options.raw());
  return upstreamBody({
    model: null,
    messages: upstreamMessages(ctx, plain.request, plain.body),
    fields: plain.fields,
    extra,
  });
}
