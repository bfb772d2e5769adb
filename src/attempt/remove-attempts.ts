import type { Context } from '../context.ts';

/** Reply of retire and delete (protocol section 7). */
export interface RemovalReply {
  readonly schema_version: 2 | 3;
  readonly removed: string[];
  readonly absent: string[];
}

/** Retires or deletes attempts. Retire leaves a fence; delete takes it away too. Neither touches tokens. */
export async function removeAttempts(
  ctx: Context,
  operation: 'retire' | 'delete',
  attempts: readonly string[],
): Promise<RemovalReply> {
  const unique = [...new Set(attempts)];
  const removal = operation === 'retire' ? await ctx.ledger.retire(unique) : await ctx.ledger.delete(unique);
  ctx.events.attemptOperation(operation, unique);
  return { schema_version: ctx.strategy.schemaVersion, removed: removal.removed, absent: removal.absent };
}
