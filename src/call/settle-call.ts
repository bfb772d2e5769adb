import type { Context } from '../context.ts';
import { type ServiceError, serviceError } from '../errors.ts';
import type { CallIds } from '../events.ts';
import type { Candidate } from '../ledger/ledger.ts';
import type { ConvertedRequest, EngineAnswer, RenderedReply, ReplyOptions } from '../protocol/conversation.ts';
import {
  ENGINE_SKIP,
  engineAnswerToJson,
  isAnswerProblem,
  parseEngineAnswer,
  UNFINISHED_REASONS,
} from '../protocol/engine-answer.ts';
import type { JsonFragment } from '../protocol/json/fragment.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJson, parseJsonText } from '../protocol/json/parse-json.ts';
import type { StagedCoordinates } from '../protocol/wire/coordinates.ts';
import type { FailureReason, WhyRoot } from '../protocol/wire/ledger.ts';
import type { CapturedCall } from './admit-call.ts';
import { buildRecord } from './build-record.ts';
import type { WorkerOutcome } from './call-worker.ts';
import { commitRecord, recordFailure, recordRefused } from './commit-record.ts';
import type { Evidence } from './gather-evidence.ts';
import { CONVERTERS } from './parse-call.ts';
import { replyBytes } from './render-reply.ts';
import type { AnsweredCall, FailedCall } from './running-calls.ts';
import { contextRefusal, engineErrorToAgent, isContextRefusal, readEngineError } from './worker-errors.ts';

/** An admitted call on its way to the worker. */
export interface AdmittedCall {
  readonly call: CapturedCall;
  readonly request: ConvertedRequest;
  /** Final upstream members, overrides included, `model` too. */
  readonly fields: ReadonlyMap<string, JsonFragment>;
  readonly evidence: Evidence;
  readonly candidate: Candidate | null;
  /** What the worker makes of it. */
  readonly outcome: Promise<WorkerOutcome>;
  readonly replyOptions: ReplyOptions;
  /** Why this call is a root, found out while the worker is busy; null for a continuation. */
  readonly whyRoot: Promise<WhyRoot | null>;
  /** True once the agent was told that its time is up. */
  readonly isLate: () => boolean;
}

/** A call that came to an answer, with the bytes for its own agent. */
export type SettledCall = (AnsweredCall & { readonly bytes: Buffer }) | FailedCall;

/**
 * Takes an admitted call through the rest of section 1: engine → coordinates → reply rendered → record durable. Whatever happens is settled in the ledger
 * exactly as the table of section 6 says before this resolves; it never rejects for what workers, ledgers or agents do. After a defect of ours the call is pending
 * with a failure row, so that no close waits for it.
 */
export async function settleCall(ctx: Context, admitted: AdmittedCall): Promise<SettledCall> {
  const ids: CallIds = { attempt: admitted.call.attempt, callId: admitted.call.callId };
  try {
    return await takeThrough(ctx, admitted, ids);
  } catch (error) {
    ctx.events.defect(ids, error);
    await recordFailure(
      ctx,
      ids,
      'request_finished_without_staged_coordinates',
      'the server failed in an unexpected way',
    );
    return { kind: 'failed', error: serviceError('internal_error', 'The server failed in an unexpected way.') };
  }
}

async function takeThrough(ctx: Context, admitted: AdmittedCall, ids: CallIds): Promise<SettledCall> {
  const outcome = await admitted.outcome;
  const fail = async (reason: FailureReason, detail: string, error?: ServiceError): Promise<SettledCall> => {
    await recordFailure(ctx, ids, reason, detail);
    return { kind: 'failed', error: error ?? serviceError('capture_failed', MESSAGES[reason] ?? detail) };
  };

  const body = await readOutcome(ctx, ids, outcome, fail);
  if ('kind' in body && !('bytes' in body)) return body;
  const answerBody = body as JsonNode;

  const coordinates = readCoordinates(answerBody);
  if ('problem' in coordinates)
    return fail('request_finished_without_staged_coordinates', `no complete JSON object: ${coordinates.problem}`);
  const judged = checkCoordinates(ctx, admitted, coordinates.value);
  const answer = parseEngineAnswer(answerBody, { callId: ids.callId });
  if (judged.kind === 'failed') {
    const failed = await fail(judged.reason, judged.detail);
    // Schema 2: only the rollout is lost, the agent goes on.
    if (!ctx.strategy.servesWhenCaptureFails || isAnswerProblem(answer) || UNFINISHED_REASONS.has(answer.finishReason))
      return failed;
    const rendered = render(ctx, admitted, answer);
    return 'problem' in rendered ? failed : { kind: 'answered', answer, bytes: rendered.bytes };
  }
  if (isAnswerProblem(answer)) return fail('invalid_worker_commit_coordinates', answer.problem);
  const rendered = render(ctx, admitted, answer);
  if ('problem' in rendered) return fail('invalid_worker_commit_coordinates', rendered.problem);
  return commit(ctx, admitted, judged.coordinates, answer, rendered);
}

const MESSAGES: Partial<Record<FailureReason, string>> = {
  request_finished_without_staged_coordinates:
    'The inference worker did not finish this call; its rollout cannot be used for training.',
  worker_response_missing_commit_coordinates:
    'The inference worker answered without saying what it stored; its rollout cannot be used for training.',
  invalid_worker_commit_coordinates:
    'The inference worker answered with an unusable acknowledgement; its rollout cannot be used for training.',
  worker_capture_failed:
    'The inference worker could not store the tokens of this call; its rollout cannot be used for training.',
};

type Fail = (reason: FailureReason, detail: string, error?: ServiceError) => Promise<SettledCall>;

/** The first rows of the table of section 6: what did not come to a JSON object of status 200. */
async function readOutcome(
  ctx: Context,
  ids: CallIds,
  outcome: WorkerOutcome,
  fail: Fail,
): Promise<JsonNode | SettledCall> {
  const WITHOUT = 'request_finished_without_staged_coordinates';
  if (outcome.kind === 'unreachable') {
    await recordRefused(ctx, ids, 'worker_unreachable');
    return {
      kind: 'failed',
      error: serviceError('worker_unreachable', 'No inference worker can be reached. Try again shortly.'),
    };
  }
  if (outcome.kind === 'lost') return fail(WITHOUT, outcome.detail);
  if (outcome.status !== 200) {
    const error = readEngineError(outcome.status, outcome.headers, outcome.body);
    if (isContextRefusal(error)) {
      await recordRefused(ctx, ids, 'context_length_exceeded');
      return { kind: 'failed', error: contextRefusal(error) };
    }
    if (error.status === 401 || error.status === 403)
      ctx.events.workerRefusedCredentials(outcome.worker.url, error.status);
    // Not its words: engines quote the request.
    return fail(WITHOUT, `the worker answered with status ${error.status}`, engineErrorToAgent(error));
  }
  const node = parseJson(outcome.body, { skip: ENGINE_SKIP, allowNonFinite: true });
  if (isJsonProblem(node)) return fail(WITHOUT, `no complete JSON object: ${node.problem}`);
  if (!node.isObject()) return fail(WITHOUT, 'the answer is no JSON object');
  return node;
}

/** `ng_commit_coords` of an answer as a value, null where there is none; a problem where the answer is no JSON there. A number that JSON does not have makes it NaN. */
function readCoordinates(body: JsonNode): { readonly value: unknown } | { readonly problem: string } {
  const text = body.get('ng_commit_coords')?.rawText() ?? 'null';
  try {
    return { value: JSON.parse(text) };
  } catch {
    const read = parseJsonText(text, { allowNonFinite: true });
    return isJsonProblem(read) ? { problem: read.problem } : { value: Number.NaN };
  }
}

function checkCoordinates(ctx: Context, admitted: AdmittedCall, value: unknown) {
  if (value === null) {
    return {
      kind: 'failed',
      reason: 'worker_response_missing_commit_coordinates',
      detail: 'the answer has no ng_commit_coords',
    } as const;
  }
  return ctx.strategy.judge(value, {
    ...admitted.call,
    candidate: admitted.candidate,
    items: admitted.evidence.items,
    renderDigest: admitted.evidence.renderDigest,
  });
}

function render(
  ctx: Context,
  admitted: AdmittedCall,
  answer: EngineAnswer,
): { reply: RenderedReply; bytes: Buffer } | { problem: string } {
  const startedMs = performance.now();
  try {
    const converter = CONVERTERS[admitted.request.dialect];
    const reply = converter.render(admitted.request, answer, admitted.replyOptions);
    return { reply, bytes: replyBytes(admitted.request, answer, reply, admitted.replyOptions) };
  } catch (error) {
    return { problem: `not renderable: ${(error as Error).message}` };
  } finally {
    ctx.events.phase('render', performance.now() - startedMs);
  }
}

/** A candidate was proposed and the worker stored a root. */
function rootedByWorker({ candidate }: AdmittedCall): WhyRoot {
  return candidate === null
    ? { cause: 'first_call' }
    : {
        cause: 'rooted_by_worker',
        model_call_id: candidate.callId,
        explanation: `Call ${candidate.callId} was proposed as the parent, and the worker stored a root.`,
      };
}

async function commit(
  ctx: Context,
  admitted: AdmittedCall,
  coordinates: StagedCoordinates,
  answer: EngineAnswer,
  rendered: { reply: RenderedReply; bytes: Buffer },
): Promise<SettledCall> {
  const continues = coordinates.parent_call_id !== null;
  const whyRoot = await admitted.whyRoot;
  const request = buildRecord(ctx, {
    call: admitted.call,
    messages: admitted.request.messages,
    fingerprintItems: admitted.request.fingerprintItems,
    fields: admitted.fields,
    evidence: admitted.evidence,
    coordinates,
    reply: rendered.reply,
    parentItemCount: continues ? (admitted.candidate?.itemCount ?? 0) : 0,
    whyRoot: continues ? null : (whyRoot ?? rootedByWorker(admitted)),
    // An answer that its agent is not given is no reply for a re-send either.
    replyJson: UNFINISHED_REASONS.has(answer.finishReason) ? null : engineAnswerToJson(answer),
  });
  const startedMs = performance.now();
  const outcome = await commitRecord(ctx, request, admitted.isLate());
  ctx.events.phase('commit', performance.now() - startedMs);
  switch (outcome) {
    case 'committed':
    case 'already_committed':
      break;
    case 'dropped':
      return {
        kind: 'failed',
        error: serviceError('attempt_retired', 'This attempt was retired while the call was running.'),
      };
    case 'conflict':
    case 'unavailable':
      return {
        kind: 'failed',
        error: serviceError(
          'commit_failed',
          'The call could not be recorded; its rollout cannot be used for training.',
        ),
      };
    default: {
      const never: never = outcome;
      return never;
    }
  }
  if (UNFINISHED_REASONS.has(answer.finishReason)) {
    return {
      kind: 'failed',
      error: serviceError('worker_failed', `The inference worker gave up on this call (${answer.finishReason}).`),
    };
  }
  return { kind: 'answered', answer, bytes: rendered.bytes };
}
