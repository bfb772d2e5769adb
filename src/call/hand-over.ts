import type { Context } from '../context.ts';
import type { ServiceError } from '../errors.ts';
import type { CallIds } from '../events.ts';
import type { AgentChannel } from './agent-channel.ts';
import type { SettledCall } from './settle-call.ts';

/** An error for the agent, or null where a reply was sent. */
export type CallFailure = { readonly error: ServiceError; readonly refusedBeforeInference: boolean } | null;

/** Sends what a call came to, or says what the agent is to be told. */
export function handOver(result: SettledCall, stream: boolean, channel: AgentChannel): CallFailure {
  if (result.kind === 'failed') return { error: result.error, refusedBeforeInference: false };
  channel.send(result.bytes, stream);
  return null;
}

/**
 * Tells the ledger, as soon as it is known, that the agent went away or has its whole reply: what a re-send may claim hangs on it. Watched from the admission on, since
 * agents go away while the worker is busy. `waiter`: the call id with which this agent's request was admitted, another one than the call's where it joined it.
 */
export function watchHandOver(ctx: Context, ids: CallIds, channel: AgentChannel, waiter: string): void {
  ctx.running.add(
    channel.handedOver.then(async (arrived) => {
      try {
        if (arrived) await ctx.ledger.delivered(ids.attempt, ids.callId);
        else {
          ctx.events.clientGone(ids);
          await ctx.ledger.clientGone(ids.attempt, ids.callId, waiter);
        }
      } catch (error) {
        ctx.events.bookkeepingFailed(ids, arrived ? 'delivered' : 'client gone', error);
      }
    }),
  );
}
