import type { Removal, SweepReport } from '../ledger.ts';
import { RECORDS_PER_ATTEMPT, RETIRED } from './attempts.ts';
import { type CallRow, failCall } from './calls.ts';
import { dropExpiredReplies } from './replies.ts';
import type { Store } from './store.ts';

const ORPHAN_REASON = 'request_finished_without_staged_coordinates';

/** Retire leaves a fence: an attempt in state retired, without rows. */
export function retire(store: Store, names: readonly string[], nowS: number): Removal {
  return remove(names, (name) => {
    const attempt = store.attempts.find(name);
    if (attempt?.state === RETIRED) return false;
    if (attempt) store.attempts.detach(attempt);
    store.attempts.create(name, RETIRED, nowS);
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

const CLEARINGS = [
  'DELETE FROM call WHERE (attempt, call_id) IN (SELECT attempt, call_id FROM call WHERE attempt = ? LIMIT ?)',
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
  const doomed = store.db.get<{ id: number }>('SELECT id FROM doomed LIMIT 1');
  if (!doomed) return false;
  const { id } = doomed;
  const reply = 'DELETE FROM reply WHERE id IN (SELECT id FROM reply WHERE attempt = ? LIMIT ?) RETURNING bytes';
  const replies = store.db.all<{ bytes: number }>(reply, id, limit);
  for (const { bytes } of replies) store.addKeptBytes(-bytes);
  if (replies.length > 0) return true;
  for (const sql of CLEARINGS) if (store.db.change(sql, id, limit) > 0) return true;
  const first = id * RECORDS_PER_ATTEMPT;
  for (const sql of KEYED_CLEARINGS)
    if (store.db.change(sql, first, first + RECORDS_PER_ATTEMPT - 1, limit) > 0) return true;
  store.db.change('DELETE FROM doomed WHERE id = ?', id);
  return true;
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
export function sweep(store: Store, abandonedAfterS: number | null, nowS: number): Swept {
  dropExpiredReplies(store, nowS);
  const abandoned = abandonedAfterS === null ? [] : deleteAbandoned(store, nowS - abandonedAfterS);
  if (store.orphansSettled) return { deadReplicas: [], settledCalls: 0, attempts: [], abandoned };
  const orphans = store.db.all<CallRow & { name: string; replica: string }>(
    `SELECT name, replica, call_id, call.state, failed FROM call JOIN attempt ON attempt.id = call.attempt
     WHERE call.state = 0 AND failed = 0 AND run < ? ORDER BY call.attempt, seq`,
    store.db.run,
  );
  for (const orphan of orphans) {
    const attempt = store.attempts.find(orphan.name)!;
    failCall(store, attempt, orphan, ORPHAN_REASON);
    store.attempts.changed(attempt);
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
