import type { Context } from '../context.ts';
import type { AgentChannel } from './agent-channel.ts';
import { CHAT_PATH, RETRIED_STATUSES } from './call-worker.ts';
import type { CallFailure } from './hand-over.ts';
import type { PlainLimits } from './plain-limits.ts';
import { WholeEvents } from './whole-events.ts';
import { failed, failureOf, outOfTime } from './worker-failure.ts';

const TRIES = 3;

/** An engine that was asked for a stream and gave all of its answer at once. */
export interface WholeCompletion {
  readonly completion: Buffer;
}

/**
 * Passes an uncaptured Chat stream through byte for byte, event by event as they come (protocol section 2). Until the engine's head is there, errors are real statuses and a lost
 * connection is tried again; the agent's hanging up, or the deadline, cancels the engine's work, since nobody else waits for it.
 */
export async function relayChatStream(
  ctx: Context,
  body: Buffer,
  channel: AgentChannel,
  { signal, deadline }: PlainLimits,
): Promise<CallFailure | WholeCompletion> {
  const order = ctx.workers.order(null);
  for (let tries = 1; ; tries++) {
    const worker = order[(tries - 1) % order.length] as (typeof order)[number];
    const outcome = await ctx.workers.stream(worker, CHAT_PATH, body, new WholeEvents(channel), signal);
    if (outcome.kind === 'relayed' || channel.isGone) return null;
    if (outcome.kind === 'broken_off') {
      if (deadline.aborted) return outOfTime(ctx);
      return failed('worker_failed', `The inference worker broke off: ${outcome.detail}`);
    }
    if (outcome.kind === 'response' && outcome.status === 200) return { completion: outcome.body };
    const again = !deadline.aborted && (outcome.kind !== 'response' || RETRIED_STATUSES.has(outcome.status));
    if (!again || tries >= TRIES) return failureOf(ctx, { ...outcome, worker }, deadline);
  }
}
