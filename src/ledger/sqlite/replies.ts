import type { ReplyState } from '../ledger.ts';
import type { Attempt } from './attempts.ts';
import { type CallRow, COMMITTED, findByKey, findCall, PENDING, setHanded } from './calls.ts';
import type { Store } from './store.ts';

/** Replies kept for re-sends, and who waits for them. */

/** Keeps the reply of a call; without room for it, or null, nobody can claim it any more. */
export function keepReply(store: Store, attempt: Attempt, call: CallRow, json: string | null): void {
  const bytes = json === null ? 0 : Buffer.byteLength(json);
  if (json === null || !store.kept.fits(bytes)) {
    store.handovers.end(attempt.id, call.request_digest, call.call_id);
    return;
  }
  for (const old of store.kept.add(attempt.id, call.call_id, bytes)) deleteReply(store, old.attempt, old.callId);
  const untilS = store.nowS + store.keepS;
  store.db.change('INSERT INTO reply VALUES (?, ?, ?, ?)', attempt.id, call.call_id, untilS, json);
}

export function dropReply(store: Store, attempt: Attempt, callId: string): void {
  if (!store.kept.forget(attempt.id, callId)) return;
  store.db.change('DELETE FROM reply WHERE attempt = ? AND call_id = ?', attempt.id, callId);
}

export function dropExpiredReplies(store: Store): void {
  for (const old of store.kept.takeExpired()) deleteReply(store, old.attempt, old.callId);
}

function deleteReply(store: Store, attempt: number, callId: string): void {
  store.db.change('DELETE FROM reply WHERE attempt = ? AND call_id = ?', attempt, callId);
  const sql = 'SELECT request_digest FROM call WHERE attempt = ? AND call_id = ?';
  const call = store.db.get<Pick<CallRow, 'request_digest'>>(sql, attempt, callId);
  store.handovers.end(attempt, call?.request_digest ?? null, callId);
}

function keptReply(store: Store, attempt: Attempt, callId: string): string | null {
  const sql = 'SELECT json FROM reply WHERE attempt = ? AND call_id = ? AND until_s > ?';
  return store.db.get<{ json: string }>(sql, attempt.id, callId, store.nowS)?.json ?? null;
}

/** The account of what the file keeps, at start and after a rollback. */
export function accountForReplies(store: Store): void {
  const rows = store.db.all<{ attempt: number; call_id: string; until_s: number; bytes: number }>(
    'SELECT attempt, call_id, until_s, octet_length(json) AS bytes FROM reply ORDER BY until_s',
  );
  for (const row of rows)
    store.kept.enter({ attempt: row.attempt, callId: row.call_id, bytes: row.bytes, untilS: row.until_s });
}

export type Resend =
  | { readonly kind: 'none' }
  | { readonly kind: 'reused_key' }
  | { readonly kind: 'joins'; readonly callId: string };

/** The re-send rule (design, "Never twice"). A reply that is not kept any more cannot be joined. */
export function findResend(
  store: Store,
  attempt: Attempt,
  waiter: string,
  resend: { readonly requestDigest: string; readonly idempotencyKey: string | null },
): Resend {
  const { requestDigest, idempotencyKey } = resend;
  const answerable = (call: CallRow) =>
    call.failed === 0 &&
    (call.state === PENDING || (call.state === COMMITTED && keptReply(store, attempt, call.call_id) !== null));
  if (idempotencyKey !== null) {
    const call = findByKey(store, attempt, idempotencyKey);
    if (call && call.request_digest !== requestDigest) return { kind: 'reused_key' };
    if (call && answerable(call)) return { kind: 'joins', callId: call.call_id };
  }
  for (const callId of store.handovers.claimable(attempt.id, requestDigest, waiter)) {
    const call = findCall(store, attempt, callId);
    if (call && answerable(call)) return { kind: 'joins', callId };
  }
  return { kind: 'none' };
}

export function clientGone(store: Store, name: string, callId: string, waiter: string | null): void {
  const attempt = store.attempts.find(name);
  const call = attempt && findCall(store, attempt, callId);
  if (attempt && call) store.handovers.leave(attempt.id, call.request_digest, callId, waiter);
}

export function delivered(store: Store, name: string, callId: string): void {
  const attempt = store.attempts.find(name);
  const call = attempt && findCall(store, attempt, callId);
  if (!attempt || !call) return;
  store.handovers.end(attempt.id, call.request_digest, callId);
  if (call.idempotency_key === null) dropReply(store, attempt, callId);
  else setHanded(store, attempt, call);
}

/** Enters what an earlier process has kept for its clients and could not hand over. */
export function restoreHandovers(store: Store): void {
  const rows = store.db.all<{ attempt: number; request_digest: string; call_id: string }>(
    `SELECT call.attempt, request_digest, call_id FROM reply JOIN call USING (attempt, call_id)
     WHERE handed = 0 AND failed = 0 AND request_digest IS NOT NULL ORDER BY call.attempt, seq`,
  );
  for (const row of rows) store.handovers.add(row.attempt, row.request_digest, row.call_id, null);
  store.handovers.keep();
}

export function replyOf(store: Store, name: string, callId: string): ReplyState {
  const attempt = store.attempts.find(name);
  const call = attempt && findCall(store, attempt, callId);
  if (!attempt || !call) return { kind: 'gone' };
  if (call.failed === 1) return { kind: 'failed' };
  if (call.state === PENDING) return { kind: 'running' };
  if (call.state !== COMMITTED) return { kind: 'failed' };
  const replyJson = keptReply(store, attempt, callId);
  return replyJson === null ? { kind: 'gone' } : { kind: 'finished', replyJson };
}
