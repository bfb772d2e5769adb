import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { CallIds } from '../events.ts';
import { type CommitOutcome, type CommitRequest, LedgerUnavailable } from '../ledger/ledger.ts';
import type { FailureReason } from '../protocol/wire/ledger.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Runs a ledger operation until it is done or the time is up (`ledger.commit_retry_s`); every operation can be run again with the same outcome. Throws the last
 * {@link LedgerUnavailable} when the time is up.
 */
export async function untilDone<T>(operation: () => Promise<T>, forMs: number): Promise<T> {
  const deadline = performance.now() + forMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof LedgerUnavailable) || performance.now() + pauseMs > deadline) throw error;
      await sleep(pauseMs);
    }
  }
}

/** Records the call, durable before this resolves (section 1, step 6). `unavailable`: the call stays pending, its failure row is owed. */
export async function commitRecord(
  ctx: Context,
  request: CommitRequest,
  late: boolean,
): Promise<CommitOutcome | 'unavailable'> {
  const ids: CallIds = { attempt: request.attempt, callId: request.callId };
  let outcome: CommitOutcome;
  try {
    outcome = await untilDone(() => ctx.ledger.commit(request), ctx.config.ledger.commit_retry_s * 1000);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    ctx.events.commitUnavailable(ids, error);
    ctx.owed.add(ids, { kind: 'failure', reason: 'request_finished_without_staged_coordinates' });
    return 'unavailable';
  }
  switch (outcome) {
    case 'committed':
    case 'already_committed':
      ctx.events.committed(ids, { parent: request.index.parentCallId, cumLen: request.index.cumLen, late });
      return outcome;
    case 'dropped':
      ctx.events.commitDropped(ids);
      return outcome;
    case 'conflict':
      ctx.events.commitConflict(ids);
      return outcome;
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

/** Adds a failure row; the intent stays pending. A ledger that is away is asked again for as long as a commit would be. */
export async function recordFailure(ctx: Context, ids: CallIds, reason: FailureReason, detail: string): Promise<void> {
  ctx.events.failed(ids, reason, detail);
  try {
    await untilDone(
      () => ctx.ledger.addFailure(ids.attempt, ids.callId, reason),
      ctx.config.ledger.commit_retry_s * 1000,
    );
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    ctx.events.failureRowLate(ids, reason, error);
    ctx.owed.add(ids, { kind: 'failure', reason });
  }
}

/** Settles an intent as refused: nothing can have been staged for it. */
export async function recordRefused(ctx: Context, ids: CallIds, code: string): Promise<void> {
  ctx.events.settledRefused(ids, code);
  try {
    await untilDone(
      () => ctx.ledger.settleRefused(ids.attempt, ids.callId, code),
      ctx.config.ledger.commit_retry_s * 1000,
    );
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    ctx.events.refusalLate(ids, code, error);
    ctx.owed.add(ids, { kind: 'refusal', code });
  }
}
