import type { ReplyState } from '../ledger.ts';
import type { Attempt } from './attempts.ts';
import { type CallRow, COMMITTED, findByKey, findCall, PENDING, setHanded } from './calls.ts';
import type { Store } from './store.ts';

/** Replies kept for re-sends, and who waits for them. */

/** Keeps the reply of a call; without room for it, or null, nobody can claim it any more. */
export function keepReply(store: Store, attempt: Attempt, call: CallRow, json: string | null, nowS: number): void {
  const bytes = json === null ? 0 : Buffer.byteLength(json);
  if (json === null || bytes > store.replies.keepBytes) {
    store.handovers.end(attempt.id, call.request_digest, call.call_id);
    return;
  }
  while (store.keptBytes() + bytes > store.replies.keepBytes && dropOldest(store, Number.POSITIVE_INFINITY));
  store.db.change(
    'INSERT INTO reply (attempt, call_id, expires_at_s, bytes, json) VALUES (?, ?, ?, ?, ?)',
    attempt.id,
    call.call_id,
    nowS + store.replies.keepS,
    bytes,
    json,
  );
  store.addKeptBytes(bytes);
}

export function dropReply(store: Store, attempt: Attempt, callId: string): void {
  const sql = 'DELETE FROM reply WHERE attempt = ? AND call_id = ? RETURNING bytes';
  const row = store.db.get<{ bytes: number }>(sql, attempt.id, callId);
  if (row) store.addKeptBytes(-row.bytes);
}

export function dropExpiredReplies(store: Store, nowS: number): void {
  while (dropOldest(store, nowS));
}

/** Drops the reply that was kept first, if its time is up at `nowS`. */
function dropOldest(store: Store, nowS: number): boolean {
  const sql =
    'DELETE FROM reply WHERE id = (SELECT min(id) FROM reply) AND expires_at_s <= ? RETURNING attempt, call_id, bytes';
  const row = store.db.get<{ attempt: number; call_id: string; bytes: number }>(sql, nowS);
  if (!row) return false;
  store.addKeptBytes(-row.bytes);
  const callSql = 'SELECT request_digest FROM call WHERE attempt = ? AND call_id = ?';
  const call = store.db.get<Pick<CallRow, 'request_digest'>>(callSql, row.attempt, row.call_id);
  store.handovers.end(row.attempt, call?.request_digest ?? null, row.call_id);
  return true;
}

function keptReply(store: Store, attempt: Attempt, callId: string, nowS: number): string | null {
  const sql = 'SELECT json FROM reply WHERE attempt = ? AND call_id = ? AND expires_at_s > ?';
  return store.db.get<{ json: string }>(sql, attempt.id, callId, nowS)?.json ?? null;
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
  nowS: number,
): Resend {
  const { requestDigest, idempotencyKey } = resend;
  const answerable = (call: CallRow) =>
    call.failed === 0 &&
    (call.state === PENDING || (call.state === COMMITTED && keptReply(store, attempt, call.call_id, nowS) !== null));
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

export function replyOf(store: Store, name: string, callId: string, nowS: number): ReplyState {
  const attempt = store.attempts.find(name);
  const call = attempt && findCall(store, attempt, callId);
  if (!attempt || !call) return { kind: 'gone' };
  if (call.failed === 1) return { kind: 'failed' };
  if (call.state === PENDING) return { kind: 'running' };
  if (call.state !== COMMITTED) return { kind: 'failed' };
  const replyJson = keptReply(store, attempt, callId, nowS);
  return replyJson === null ? { kind: 'gone' } : { kind: 'finished', replyJson };
}
