import type { CommitOutcome, CommitRequest } from '../ledger.ts';
import { type Attempt, CLOSED, OPEN, RETIRED } from './attempts.ts';
import { type CallRow, COMMITTED, findCall, REFUSED, setCommitted, setFailed, setRefused } from './calls.ts';
import { insertRecord, readRecord, recordKey } from './records.ts';
import { keepReply } from './replies.ts';
import type { Store } from './store.ts';

/** What becomes of an intent: a record, a refusal, a failure row. Retired attempts have no calls left, so nothing of them is found here. */

export function commit(store: Store, request: CommitRequest): CommitOutcome {
  const { attempt, call } = find(store, request.attempt, request.callId);
  if (!attempt || !call) return 'dropped';
  if (call.state === REFUSED) return 'conflict';
  if (call.state === COMMITTED) {
    const { json } = store.db.get<{ json: string }>(
      'SELECT json FROM record WHERE key = ?',
      recordKey(attempt, call.record!),
    )!;
    return json === request.recordJson ? 'already_committed' : 'conflict';
  }
  const admitted = call.candidate === null ? null : readRecord(store, attempt, call.candidate);
  const { parentCallId } = request.index;
  if (parentCallId !== null && parentCallId !== admitted?.call_id) return 'conflict';

  const parent = parentCallId === null ? null : admitted;
  const number = insertRecord(store, attempt, { ...request, parent });
  if (request.whyRootJson !== null) {
    store.db.change('INSERT INTO root VALUES (?, ?, ?)', recordKey(attempt, number), call.call_id, request.whyRootJson);
  }
  setCommitted(store, attempt, call, number);
  attempt.last_activity_s = Math.max(attempt.last_activity_s, store.nowS);
  keepReply(store, attempt, call, request.replyJson);
  return 'committed';
}

export function settleRefused(store: Store, name: string, callId: string, code: string): boolean {
  const { attempt, call } = find(store, name, callId);
  if (!attempt || !call || call.state === COMMITTED) return false;
  if (call.state !== REFUSED) setRefused(store, attempt, call, code);
  return true;
}

export function addFailure(store: Store, name: string, callId: string, reason: string): boolean {
  const { attempt, call } = find(store, name, callId);
  if (!attempt || !call || call.state === REFUSED) return false;
  setFailed(store, attempt, call, reason);
  return true;
}

function find(store: Store, name: string, callId: string): { attempt: Attempt | undefined; call: CallRow | undefined } {
  const attempt = store.attempts.find(name);
  return { attempt, call: attempt && findCall(store, attempt, callId) };
}

export function close(store: Store, name: string): 'closed' | 'retired' {
  const attempt = store.attempts.find(name) ?? store.attempts.create(name, CLOSED, store.nowS);
  if (attempt.state === RETIRED) return 'retired';
  if (attempt.state === OPEN) {
    attempt.state = CLOSED;
    store.attempts.changed(attempt);
  }
  return 'closed';
}
