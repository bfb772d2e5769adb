import type { Ledger } from '../ledger/ledger.ts';
import type { AttemptsPage, AttemptsQuery } from './pages.ts';

/** One page of all attempts, by name. Throws LedgerUnavailable. */
export async function listAttempts(ledger: Pick<Ledger, 'attempts'>, query: AttemptsQuery): Promise<AttemptsPage> {
  const overviews = await ledger.attempts(query.cursor ?? null, query.limit);
  return {
    attempts: overviews.map(({ attempt, state, records, pending, failures, refused, lastActivityS }) => ({
      attempt,
      state,
      records,
      pending,
      failures,
      refused,
      last_activity_at: lastActivityS,
    })),
    next: overviews.length < query.limit ? null : (overviews.at(-1)?.attempt ?? null),
  };
}
