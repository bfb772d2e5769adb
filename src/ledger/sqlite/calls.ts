import type { Attempt } from './attempts.ts';
import type { Store } from './store.ts';

export const PENDING = 0;
export const COMMITTED = 1;
export const REFUSED = 2;

/** An intent as it is stored. */
export interface CallRow {
  readonly call_id: string;
  readonly state: number;
  readonly failed: number;
  readonly handed: number;
  /** Digest of the admitted request: the same call id for other data is a defect. */
  readonly request: string;
  /** Commit number of the proposed parent's record. */
  readonly candidate: number | null;
  readonly rooted_by: 'unmatched' | 'ambiguous' | 'named_parent' | null;
  /** The call that the parent header named, where the call does not extend it. */
  readonly named_call_id: string | null;
  readonly records_seen: number;
  /** Commit number of its own record. */
  readonly record: number | null;
  readonly request_digest: string | null;
  readonly idempotency_key: string | null;
}

const COLUMNS =
  'call_id, state, failed, handed, request, candidate, rooted_by, named_call_id, records_seen, record, request_digest, idempotency_key';

export function findCall(store: Store, attempt: Attempt, callId: string): CallRow | undefined {
  return store.db.get(`SELECT ${COLUMNS} FROM call WHERE attempt = ? AND call_id = ?`, attempt.id, callId);
}

/** The latest call that carried this Idempotency-Key. */
export function findByKey(store: Store, attempt: Attempt, key: string): CallRow | undefined {
  return store.db.get(
    `SELECT ${COLUMNS} FROM call WHERE attempt = ? AND idempotency_key = ? ORDER BY seq DESC LIMIT 1`,
    attempt.id,
    key,
  );
}

/** Calls for this request whose reply was not handed over yet, oldest first. */
export function findUnhanded(store: Store, attempt: Attempt, requestDigest: string): CallRow[] {
  return store.db.all(
    `SELECT ${COLUMNS} FROM call WHERE attempt = ? AND request_digest = ? AND handed = 0 ORDER BY seq`,
    attempt.id,
    requestDigest,
  );
}

/** Adds a failure row unless the call has the same one. */
export function insertFailure(store: Store, attempt: Attempt, callId: string, reason: string): void {
  const added = store.db.change(
    'INSERT OR IGNORE INTO failure (attempt, call_id, reason) VALUES (?, ?, ?)',
    attempt.id,
    callId,
    reason,
  );
  if (added === 0) return;
  attempt.failures += 1;
  store.attempts.changed(attempt);
}

/** Adds a failure row to an intent that is not refused. */
export function failCall(store: Store, attempt: Attempt, call: CallRow, reason: string): void {
  insertFailure(store, attempt, call.call_id, reason);
  if (call.failed === 1) return;
  store.db.change('UPDATE call SET failed = 1 WHERE attempt = ? AND call_id = ?', attempt.id, call.call_id);
  if (call.state === PENDING) attempt.unsettled -= 1;
}
