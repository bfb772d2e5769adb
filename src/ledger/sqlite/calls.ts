import type { Attempt } from './attempts.ts';
import type { Store } from './store.ts';

export const PENDING = 0;
export const COMMITTED = 1;
export const REFUSED = 2;

/** An intent as it is stored. */
export interface CallRow {
  readonly attempt: number;
  readonly call_id: string;
  state: number;
  /** 1: it has a failure row. */
  failed: number;
  /** 1: its reply was handed over in full. Only kept for calls with an Idempotency-Key: the replies of others are dropped then. */
  handed: number;
  /** Digest of the admitted request: the same call id for other data is a defect. */
  readonly request: string;
  /** Commit number of the proposed parent's record. */
  readonly candidate: number | null;
  readonly rooted_by: 'unmatched' | 'ambiguous' | 'named_parent' | null;
  /** The call that the parent header named, where the call does not extend it. */
  readonly named_call_id: string | null;
  readonly records_seen: number;
  /** Commit number of its own record. */
  record: number | null;
  readonly request_digest: string | null;
  readonly idempotency_key: string | null;
}

const COLUMNS =
  'attempt, call_id, state, failed, handed, request, candidate, rooted_by, named_call_id, records_seen, record, request_digest, idempotency_key';

export function findCall(store: Store, attempt: Attempt, callId: string): CallRow | undefined {
  const cached = store.calls.get(callId);
  if (cached?.attempt === attempt.id) return cached;
  const sql = `SELECT ${COLUMNS} FROM call WHERE attempt = ? AND call_id = ?`;
  const row = store.db.get<CallRow>(sql, attempt.id, callId);
  if (row) store.calls.set(callId, row);
  return row;
}

/** The latest call that carried this Idempotency-Key. */
export function findByKey(store: Store, attempt: Attempt, key: string): CallRow | undefined {
  const sql = 'SELECT call_id FROM call WHERE attempt = ? AND idempotency_key = ? ORDER BY seq DESC LIMIT 1';
  const row = store.db.get<{ call_id: string }>(sql, attempt.id, key);
  return row && findCall(store, attempt, row.call_id);
}

/** False, and nothing is changed, where the attempt has a call of this id. */
export function insertCall(
  store: Store,
  attempt: Attempt,
  call: Omit<CallRow, 'attempt' | 'state' | 'failed' | 'handed' | 'record'> & {
    readonly replica: string;
    readonly admittedAtS: number;
  },
): boolean {
  const inserted = store.db.change(
    `INSERT INTO call VALUES (NULL, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?, ?)
     ON CONFLICT (attempt, call_id) DO NOTHING`,
    attempt.id,
    call.call_id,
    attempt.intents,
    store.db.run,
    call.replica,
    call.admittedAtS,
    call.request,
    call.candidate,
    call.rooted_by,
    call.named_call_id,
    call.records_seen,
    call.request_digest,
    call.idempotency_key,
  );
  if (inserted === 0) return false;
  store.calls.set(call.call_id, {
    attempt: attempt.id,
    call_id: call.call_id,
    state: PENDING,
    failed: 0,
    handed: 0,
    request: call.request,
    candidate: call.candidate,
    rooted_by: call.rooted_by,
    named_call_id: call.named_call_id,
    records_seen: call.records_seen,
    record: null,
    request_digest: call.request_digest,
    idempotency_key: call.idempotency_key,
  });
  attempt.intents += 1;
  attempt.pending += 1;
  attempt.unsettled += 1;
  store.attempts.changed(attempt);
  return true;
}

/** The call gets its record. */
export function setCommitted(store: Store, attempt: Attempt, call: CallRow, record: number): void {
  store.db.change(
    'UPDATE call SET state = 1, record = ? WHERE attempt = ? AND call_id = ?',
    record,
    attempt.id,
    call.call_id,
  );
  leavePending(store, attempt, call);
  call.state = COMMITTED;
  call.record = record;
}

/** The call is refused: it loses its failure rows. */
export function setRefused(store: Store, attempt: Attempt, call: CallRow, code: string): void {
  const sql = 'UPDATE call SET state = 2, failed = 0, refused_code = ? WHERE attempt = ? AND call_id = ?';
  store.db.change(sql, code, attempt.id, call.call_id);
  attempt.failures -= store.db.change(
    'DELETE FROM failure WHERE attempt = ? AND call_id = ?',
    attempt.id,
    call.call_id,
  );
  attempt.refused += 1;
  leavePending(store, attempt, call);
  call.state = REFUSED;
  call.failed = 0;
  store.handovers.end(attempt.id, call.request_digest, call.call_id);
}

/** Adds a failure row to an intent that is not refused. */
export function setFailed(store: Store, attempt: Attempt, call: CallRow, reason: string): void {
  insertFailure(store, attempt, call.call_id, reason);
  if (call.failed === 1) return;
  store.db.change('UPDATE call SET failed = 1 WHERE attempt = ? AND call_id = ?', attempt.id, call.call_id);
  if (call.state === PENDING) attempt.unsettled -= 1;
  store.attempts.changed(attempt);
  call.failed = 1;
  store.handovers.end(attempt.id, call.request_digest, call.call_id);
}

export function setHanded(store: Store, attempt: Attempt, call: CallRow): void {
  if (call.handed === 1) return;
  store.db.change('UPDATE call SET handed = 1 WHERE attempt = ? AND call_id = ?', attempt.id, call.call_id);
  call.handed = 1;
}

/** Adds a failure row unless there is the same one. */
export function insertFailure(store: Store, attempt: Attempt, callId: string, reason: string): void {
  const sql = 'INSERT OR IGNORE INTO failure (attempt, call_id, reason) VALUES (?, ?, ?)';
  if (store.db.change(sql, attempt.id, callId, reason) === 0) return;
  attempt.failures += 1;
  store.attempts.changed(attempt);
}

function leavePending(store: Store, attempt: Attempt, call: CallRow): void {
  attempt.pending -= 1;
  if (call.failed === 0) attempt.unsettled -= 1;
  store.attempts.changed(attempt);
}
