import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { serviceError } from '../errors.ts';
import { LedgerUnavailable, type ReplyState } from '../ledger/ledger.ts';
import type { ConvertedRequest } from '../protocol/conversation.ts';
import { engineAnswerFromJson } from '../protocol/engine-answer.ts';
import type { AgentChannel } from './agent-channel.ts';
import { replyOptions } from './call-settings.ts';
import { type CallFailure, handOver, watchHandOver } from './hand-over.ts';
import { inTime } from './in-time.ts';
import { renderAgain } from './render-reply.ts';
import type { CallResult } from './running-calls.ts';

const LOOK_AGAIN_MS = 250;

/**
 * A re-send (design, "Never twice") gets the reply of the call that it repeats, in the form that it asks for itself: it waits for the running call, here or at another
 * replica, or gets the finished reply. `gone`: nothing is kept of that call. `waiter`: the call id with which the re-send was admitted.
 */
export async function joinCall(
  ctx: Context,
  ids: { readonly attempt: string; readonly callId: string },
  request: ConvertedRequest,
  channel: AgentChannel,
  waiter: string,
): Promise<CallFailure | 'gone'> {
  channel.name(ids.callId);
  watchHandOver(ctx, ids, channel, waiter);
  const local = ctx.running.find(ids.callId);
  ctx.events.joined(ids, local === undefined ? 'elsewhere' : 'running');
  const deadline = performance.now() + ctx.config.deadlines.call_s * 1000;
  const result =
    local === undefined
      ? await replyElsewhere(ctx, ids, deadline, channel)
      : await inTime(ctx, local, () => Promise.resolve());
  if (result === 'gone') return 'gone';
  if (result.kind === 'failed') return { error: result.error, refusedBeforeInference: false };
  const bytes = renderAgain(request, result.answer, replyOptions(ctx, ids.callId, true));
  return handOver({ ...result, bytes }, request.stream, channel);
}

/** Waits for a call that another replica runs, or that has finished. */
async function replyElsewhere(
  ctx: Context,
  ids: { readonly attempt: string; readonly callId: string },
  deadline: number,
  channel: AgentChannel,
): Promise<CallResult | 'gone'> {
  const failed = (message: string): CallResult => ({ kind: 'failed', error: serviceError('capture_failed', message) });
  for (;;) {
    const state = await lookUp(ctx, ids);
    switch (state.kind) {
      case 'finished':
        return { kind: 'answered', answer: engineAnswerFromJson(state.replyJson) };
      case 'failed':
        return failed('The call that this request repeats failed; send it again as a new request.');
      case 'gone':
        return 'gone';
      case 'running':
        break;
      default: {
        const never: never = state;
        return never;
      }
    }
    if (channel.isGone) return failed('The agent went away.');
    if (performance.now() > deadline) {
      return {
        kind: 'failed',
        error: serviceError('deadline_exceeded', 'The call that this request repeats did not finish in time.'),
      };
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

async function lookUp(ctx: Context, ids: { attempt: string; callId: string }): Promise<ReplyState> {
  try {
    return await ctx.ledger.replyOf(ids.attempt, ids.callId);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    ctx.events.ledgerUnavailable('reply of a joined call', error);
    return { kind: 'running' };
  }
}
