import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../context.ts';
import { type ServiceError, serviceError } from '../errors.ts';
import { LedgerUnavailable, type ProposeOutcome } from '../ledger/ledger.ts';
import { RENDER_KEYS } from '../lineage/render-digest.ts';
import type { ConvertedRequest, Dialect } from '../protocol/conversation.ts';
import { isRefusal } from '../protocol/conversation.ts';
import type { JsonFragment, JsonFragments } from '../protocol/json/fragment.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { upstreamBody } from '../protocol/upstream-body.ts';
import { refusal } from './admit-call.ts';
import { conversionOptions, upstreamFields, upstreamMessages } from './call-settings.ts';
import { callWorkerRetrying } from './call-worker.ts';
import { gatherEvidence } from './gather-evidence.ts';
import { identifyAttempt, PARENT_HEADER } from './identify-attempt.ts';
import { CONVERTERS, parseBody, parseCall, refusedRequest } from './parse-call.ts';
import { plainLimits } from './plain-limits.ts';
import { failureOf } from './worker-failure.ts';

export const TOKENIZE_PATH = '/tokenize';

/** Members that a tokenize request gets beside `model` and `messages`: those that shape the prompt. */
const PROMPT_KEYS: ReadonlySet<string> = new Set(RENDER_KEYS);

/**
 * Token count of a would-be call (protocol section 9): the same conversion and the same search as a call, no intent, no change of the ledger; also on a closed attempt.
 * Chat where the body has `messages`, else Responses.
 */
export async function measureCall(
  ctx: Context,
  incoming: { readonly attempt: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer },
): Promise<{ readonly promptTokenCount: number } | ServiceError> {
  const target = identifyAttempt(incoming.attempt, 'measure', incoming.headers[PARENT_HEADER]);
  if ('status' in target) return target;
  const body = parseBody(incoming.body, ctx.config.limits.json_depth);
  if ('status' in body) return body;
  if (body.get('stream')?.boolean() === true) {
    return serviceError('unsupported_field', 'stream: a measurement has no stream. Leave the field out.', {
      param: 'stream',
    });
  }
  const dialect: Dialect = body.get('messages') === undefined ? 'responses' : 'chat';
  const parsed = parseCall(dialect, incoming.body, conversionOptions(ctx, incoming), ctx.config.limits.json_depth);
  if ('status' in parsed) return parsed;
  ctx.events.stripped(parsed.request.stripped);
  const fields = upstreamFields(ctx, parsed.request);
  const evidence = gatherEvidence(parsed.request.messages, fields, ctx.config.lineage.reasoning);
  if ('status' in evidence) return evidence;

  let proposed: ProposeOutcome;
  try {
    proposed = await ctx.ledger.propose({
      attempt: incoming.attempt,
      boundary: evidence.boundary,
      namedParent: target.namedParent,
      // Where the call would be served without a parent, it is measured as a root.
      onAmbiguous: ctx.strategy.unmatched(evidence.hasAssistant).onAmbiguous === 'refuse' ? 'refuse' : 'root',
    });
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    ctx.events.ledgerUnavailable('propose', error);
    return serviceError('ledger_unavailable', 'The ledger is not available. Try again shortly.');
  }
  if (proposed.kind === 'refused') return refusal(proposed.code, ctx.config.limits.calls_per_attempt);
  const admission = {
    attempt: incoming.attempt,
    callId: ctx.newCallId(),
    candidate: proposed.candidate,
    items: evidence.items,
    renderDigest: evidence.renderDigest,
  };
  const capture = ctx.strategy
    .upstreamFields(admission)
    .filter(([name]) => name === 'ng_capture' || name === 'offload_params');
  const counted = await tokenize(ctx, incoming.attempt, parsed.request, fields, new Map(capture));
  if ('status' in counted) return counted;
  if (!counted.measured)
    return serviceError('worker_failed', 'The inference worker did not confirm that it measured this context.');
  return { promptTokenCount: counted.count };
}

/** Token count of a Messages body (`/v1/messages/count_tokens`): nothing captured, no lineage. */
export async function countMessageTokens(
  ctx: Context,
  incoming: { readonly attempt: string | null; readonly headers: IncomingHttpHeaders; readonly body: Buffer },
): Promise<{ readonly inputTokens: number } | ServiceError> {
  const target = identifyAttempt(incoming.attempt, 'messages', incoming.headers[PARENT_HEADER]);
  if ('status' in target) return target;
  const body = parseBody(incoming.body, ctx.config.limits.json_depth);
  if ('status' in body) return body;
  const request = CONVERTERS.messages.convert(body, {
    ...conversionOptions(ctx, incoming),
    captured: false,
  });
  if (isRefusal(request)) return refusedRequest(request);
  ctx.events.stripped(request.stripped);
  const counted = await tokenize(ctx, incoming.attempt, request, upstreamFields(ctx, request), new Map());
  return 'status' in counted ? counted : { inputTokens: counted.count };
}

async function tokenize(
  ctx: Context,
  affinity: string | null,
  request: ConvertedRequest,
  fields: ReadonlyMap<string, JsonFragment>,
  extra: ReadonlyMap<string, JsonFragments>,
): Promise<{ readonly count: number; readonly measured: boolean } | ServiceError> {
  const prompt = new Map([...fields].filter(([name]) => PROMPT_KEYS.has(name)));
  const body = upstreamBody({ model: null, messages: upstreamMessages(ctx, request, null), fields: prompt, extra });
  const { signal, deadline } = plainLimits(ctx);
  const outcome = await callWorkerRetrying(ctx, affinity, TOKENIZE_PATH, body, signal);
  const failure = failureOf(ctx, outcome, deadline);
  if (failure !== null) return failure.error;
  const node =
    outcome.kind === 'response' ? parseJson(outcome.body, { skip: new Set(['tokens', 'token_strs']) }) : undefined;
  const useless = serviceError('worker_failed', 'The inference worker gave no token count.');
  if (node === undefined || isJsonProblem(node)) return useless;
  const count = node.get('prompt_token_count')?.number() ?? node.get('count')?.number();
  if (count === undefined || !Number.isSafeInteger(count) || count < 0) return useless;
  return {
    count,
    measured: node.get('prompt_token_count') !== undefined && node.get('ng_context_measured')?.boolean() === true,
  };
}
