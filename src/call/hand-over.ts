import type { Context } from '../context.ts';
import type { ServiceError } from '../errors.ts';
import type { AgentChannel } from './agent-channel.ts';
import type { SettledCall } from './settle-call.ts';

/** An error for the agent, or null where a reply was sent. */
export type CallFailure = { readonly error: ServiceError; readonly refusedBeforeInference: boolean } | null;

/** Sends a settled call's reply, and tells the ledger whether it arrived: what a re-send may claim hangs on it. */
export async function handOver(
  ctx: Context,
  ids: { readonly attempt: string; readonly callId: string },
  result: SettledCall,
  stream: boolean,
  channel: AgentChannel,
): Promise<CallFailure> {
  if (result.kind === 'failed') return { error: result.error, refusedBeforeInference: false };
  channel.send(result.bytes as Buffer, stream);
  watchHandOver(ctx, ids, channel);
  return null;
}

/** Notes, once, that the agent went away or has its reply. */
export function watchHandOver(ctx: Context, ids: { attempt: string; callId: string }, channel: AgentChannel): void {
  ctx.running.add(
    channel.handedOver.then(async (arrived) => {
      try {
        if (arrived) await ctx.ledger.delivered(ids.attempt, ids.callId);
        else {
          ctx.events.clientGone(ids);
          await ctx.ledger.clientGone(ids.attempt, ids.callId);
        }
      } catch (error) {
        ctx.events.bookkeepingFailed(ids, arrived ? 'delivered' : 'client gone', error);
      }
    }),
  );
}
