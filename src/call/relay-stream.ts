import type { Context } from '../context.ts';
import type { AgentChannel } from './agent-channel.ts';
import { CHAT_PATH } from './call-worker.ts';
import type { CallFailure } from './hand-over.ts';
import { failureOf } from './worker-failure.ts';

const TRIES = 3;

/**
 * Passes an uncaptured Chat stream through byte for byte, as it comes (protocol section 2). Until the engine's head is there, errors are real statuses and a lost
 * connection is tried again; the agent's hanging up cancels the engine's work, since nobody else waits for it.
 */
export async function relayChatStream(ctx: Context, body: Buffer, channel: AgentChannel): Promise<CallFailure> {
  const order = ctx.workers.order(null);
  for (let tries = 1; ; tries++) {
    const worker = order[(tries - 1) % order.length] as (typeof order)[number];
    const outcome = await ctx.workers.stream(worker, CHAT_PATH, body, channel);
    if (outcome.kind === 'relayed') return null;
    if (channel.isGone) return null;
    const again = outcome.kind !== 'response' || [502, 503, 504].includes(outcome.status);
    if (!again || tries >= TRIES) return failureOf(ctx, { ...outcome, worker });
  }
}
