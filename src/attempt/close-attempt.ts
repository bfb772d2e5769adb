import type { Context } from '../context.ts';
import { type JsonParts, readLedger } from './read-ledger.ts';

/** Longest time between two looks while close waits. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Closes admissions atomically, then waits until every admitted call has committed, was refused or has a failure row, or the time is up (protocol section 7), or this
 * process ends. Then the ledger, complete or not. Idempotent; an unknown attempt becomes closed.
 */
export async function closeAttempt(ctx: Context, attempt: string, waitMs: number): Promise<JsonParts | 'retired'> {
  if ((await ctx.ledger.close(attempt)) === 'retired') return 'retired';
  ctx.events.attemptOperation('close', [attempt]);
  const deadline = performance.now() + waitMs;
  while ((await ctx.ledger.unsettled(attempt)) > 0) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || ctx.lifecycle.drained) break;
    await ctx.ledger.changed(attempt, Math.min(leftMs, LOOK_AGAIN_MS));
  }
  return readLedger(ctx, attempt);
}
