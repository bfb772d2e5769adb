import type { ReplyState } from '../ledger.ts';
import type { Attempt } from './attempts.ts';
import { type CallRow, COMMITTED, findByKey, findCall, findUnhanded, PENDING } from './calls.ts';
import type { Store } from './store.ts';

/** Replies kept for re-sends, and who waits for them. */

export function keepReply(store: Store, attempt: Attempt, callId: string, json: string, nowS: number): void {
  const bytes = Buffer.byteLength(json);
  if (bytes > store.replies.keepBytes) return;
  while (store.keptBytes() + bytes > store.replies.keepBytes) {
    const oldest = store.db.get<{ bytes: number }>(
      'DELETE FROM reply WHERE id = (SELECT MIN(id) FROM reply) RETURNING bytes',
    )!;
    store.addKeptBytes(-oldest.bytes);
  }
  const expiresAtS = nowS + store.replies.keepS;
  store.db.change(
    'INSERT INTO reply (attempt, call_id, expires_at_s, bytes, json) VALUES (?, ?, ?, ?, ?)',
    attempt.id,
    callId,
    expiresAtS,
    bytes,
    json,
  );
  store.addKeptBytes(bytes);
}

export function dropReply(store: Store, attempt: Attempt, callId: string): void {
  const row = store.db.get<{ bytes: number }>(
    'DELETE FROM reply WHERE attempt = ? AND call_id = ? RETURNING bytes',
    attempt.id,
    callId,
  );
  if (row) store.addKeptBytes(-row.bytes);
}

export function dropExpiredReplies(store: Store, nowS: number): void {
  for (;;) {
    const sql = 'DELETE FROM reply WHERE id = (SELECT MIN(id) FROM reply) AND expires_at_s <= ? RETURNING bytes';
    const row = store.db.get<{ bytes: number }>(sql, nowS);
    if (!row) return;
    store.addKeptBytes(-row.bytes);
  }
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
  const answerable = (call: CallRow) =>
    call.failed === 0 &&
    (call.state === PENDING || (call.state === COMMITTED && keptReply(store, attempt, call.call_id, nowS) !== null));
  if (resend.idempotencyKey !== null) {
    const call = findByKey(store, attempt, resend.idempotencyKey);
    if (call && call.request_digest !== resend.requestDigest) return { kind: 'reused_key' };
    if (call && answerable(call)) return { kind: 'joins', callId: call.call_id };
  }
  for (const call of findUnhanded(store, attempt, resend.requestDigest)) {
    const waiters = waitersOf(store, attempt, call.call_id);
    if (answerable(call) && (waiters.length === 0 || waiters.includes(waiter)))
      return { kind: 'joins', callId: call.call_id };
  }
  return { kind: 'none' };
}

function waitersOf(store: Store, attempt: Attempt, callId: string): string[] {
  const sql = 'SELECT waiter FROM waiter WHERE attempt = ? AND call_id = ?';
  return store.db.all<{ waiter: string }>(sql, attempt.id, callId).map((row) => row.waiter);
}

export function addWaiter(store: Store, attempt: Attempt, callId: string, waiter: string): void {
  store.db.change('INSERT OR IGNORE INTO waiter VALUES (?, ?, ?)', attempt.id, callId, waiter);
}

export function clientGone(store: Store, name: string, callId: string, waiter: string | null): void {
  const attempt = store.attempts.find(name);
  if (!attempt) return;
  store.db.change(
    'DELETE FROM waiter WHERE attempt = ?1 AND call_id = ?2 AND waiter = coalesce(?3, waiter)',
    attempt.id,
    callId,
    waiter,
  );
}

export function delivered(store: Store, name: string, callId: string): void {
  const attempt = store.attempts.find(name);
  const call = attempt && findCall(store, attempt, callId);
  if (!attempt || !call) return;
  if (call.handed === 0)
    store.db.change('UPDATE call SET handed = 1 WHERE attempt = ? AND call_id = ?', attempt.id, callId);
  store.db.change('DELETE FROM waiter WHERE attempt = ? AND call_id = ?', attempt.id, callId);
  if (call.idempotency_key === null) dropReply(store, attempt, callId);
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
