import type { Removal, SweepReport } from '../ledger.ts';
import { RECORDS_PER_ATTEMPT, RETIRED } from './attempts.ts';
import { findCall, setFailed } from './calls.ts';
import { dropExpiredReplies } from './replies.ts';
import type { Store } from './store.ts';

const ORPHAN_REASON = 'request_finished_without_staged_coordinates';

/** Retire leaves a fence: an attempt in state retired, without rows. */
export function retire(store: Store, names: readonly string[]): Removal {
  return remove(names, (name) => {
    const attempt = store.attempts.find(name);
    if (attempt?.state === RETIRED) return false;
    if (attempt) store.attempts.detach(attempt);
    store.attempts.create(name, RETIRED, store.nowS);
    return attempt !== undefined;
  });
}

export function deleteAttempts(store: Store, names: readonly string[]): Removal {
  return remove(names, (name) => {
    const attempt = store.attempts.find(name);
    if (attempt) store.attempts.detach(attempt);
    return attempt !== undefined;
  });
}

function remove(names: readonly string[], take: (name: string) => boolean): Removal {
  const removal: Removal = { removed: [], absent: [] };
  for (const name of new Set(names)) (take(name) ? removal.removed : removal.absent).push(name);
  return removal;
}

const CALLS = `DELETE FROM call WHERE (attempt, call_id) IN (SELECT attempt, call_id FROM call WHERE attempt = ? LIMIT ?)
  RETURNING call_id, request_digest`;
const CLEARINGS = [
  'DELETE FROM failure WHERE id IN (SELECT id FROM failure WHERE attempt = ? LIMIT ?)',
  'DELETE FROM lookup WHERE (attempt, term, number) IN (SELECT attempt, term, number FROM lookup WHERE attempt = ? LIMIT ?)',
  'DELETE FROM chunk WHERE (attempt, number) IN (SELECT attempt, number FROM chunk WHERE attempt = ? LIMIT ?)',
] as const;
const KEYED_CLEARINGS = [
  'DELETE FROM record WHERE key IN (SELECT key FROM record WHERE key BETWEEN ? AND ? LIMIT ?)',
  'DELETE FROM root WHERE key IN (SELECT key FROM root WHERE key BETWEEN ? AND ? LIMIT ?)',
] as const;

/** Clears at most `limit` rows that lost their attempt. `false`: nothing is left. */
export function clearDoomed(store: Store, limit: number): boolean {
  const id = store.db.get<{ id: number }>('SELECT id FROM doomed LIMIT 1')?.id;
  if (id === undefined) return false;
  if (clearReplies(store, id, limit) || clearCalls(store, id, limit)) return true;
  for (const sql of CLEARINGS) if (store.db.change(sql, id, limit) > 0) return true;
  const first = id * RECORDS_PER_ATTEMPT;
  const last = first + RECORDS_PER_ATTEMPT - 1;
  for (const sql of KEYED_CLEARINGS) if (store.db.change(sql, first, last, limit) > 0) return true;
  store.db.change('DELETE FROM doomed WHERE id = ?', id);
  return true;
}

function clearReplies(store: Store, id: number, limit: number): boolean {
  const sql = `DELETE FROM reply WHERE attempt = ?1 AND call_id IN (SELECT call_id FROM reply WHERE attempt = ?1 LIMIT ?2)
    RETURNING call_id`;
  const replies = store.db.all<{ call_id: string }>(sql, id, limit);
  for (const { call_id } of replies) store.kept.forget(id, call_id);
  return replies.length > 0;
}

function clearCalls(store: Store, id: number, limit: number): boolean {
  const calls = store.db.all<{ call_id: string; request_digest: string | null }>(CALLS, id, limit);
  for (const call of calls) store.handovers.end(id, call.request_digest, call.call_id);
  return calls.length > 0;
}

export interface Swept extends SweepReport {
  /** Attempts whose calls were settled. */
  readonly attempts: string[];
  readonly abandoned: string[];
}

const ATTEMPTS_PER_SWEEP = 500;

/**
 * This process is the only writer, so every intent of an earlier run was left by a dead one. Also drops replies whose time is up and, if configured,
 * attempts without activity and without calls in flight.
 */
export function sweep(store: Store, abandonedAfterS: number | null): Swept {
  dropExpiredReplies(store);
  const abandoned = abandonedAfterS === null ? [] : deleteAbandoned(store, store.nowS - abandonedAfterS);
  if (store.orphansSettled) return { deadReplicas: [], settledCalls: 0, attempts: [], abandoned };
  const orphans = store.db.all<{ name: string; replica: string; call_id: string }>(
    `SELECT name, replica, call_id FROM call JOIN attempt ON attempt.id = call.attempt
     WHERE call.state = 0 AND failed = 0 AND run < ? ORDER BY call.attempt, seq`,
    store.db.run,
  );
  for (const orphan of orphans) {
    const attempt = store.attempts.find(orphan.name)!;
    setFailed(store, attempt, findCall(store, attempt, orphan.call_id)!, ORPHAN_REASON);
  }
  store.orphansSettled = true;
  const deadReplicas = [...new Set(orphans.map(({ replica }) => replica))];
  const attempts = [...new Set(orphans.map(({ name }) => name))];
  return { deadReplicas, settledCalls: orphans.length, attempts, abandoned };
}

/** Looks at a portion of the attempts per sweep, round and round. */
function deleteAbandoned(store: Store, beforeS: number): string[] {
  // Memory is ahead of the file within a transaction.
  store.attempts.flush();
  const sql = 'SELECT id, name, unsettled, last_activity_s FROM attempt WHERE id > ? ORDER BY id LIMIT ?';
  const rows = store.db.all<{ id: number; name: string; unsettled: number; last_activity_s: number }>(
    sql,
    store.abandonedCursor,
    ATTEMPTS_PER_SWEEP,
  );
  store.abandonedCursor = rows.length < ATTEMPTS_PER_SWEEP ? 0 : rows.at(-1)!.id;
  const abandoned = rows.filter((row) => row.unsettled === 0 && row.last_activity_s < beforeS).map(({ name }) => name);
  return deleteAttempts(store, abandoned).removed;
}
