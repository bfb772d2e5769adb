import { admissionDigest } from '../admission-digest.ts';
import type { AdmitOutcome, AdmitRequest } from '../ledger.ts';
import { type Attempt, CLOSED, OPEN, RETIRED } from './attempts.ts';
import { findCall, insertCall, insertFailure } from './calls.ts';
import { type RecordRow, readRecord, toCandidate } from './records.ts';
import { findResend } from './replies.ts';
import { type Found, type Rooted, search } from './search.ts';
import type { Store } from './store.ts';

const refused = (code: Extract<AdmitOutcome, { kind: 'refused' }>['code']): AdmitOutcome => ({ kind: 'refused', code });

/** See Ledger.admit; the checks stand in the order in which they are promised there. */
export function admit(store: Store, request: AdmitRequest): AdmitOutcome {
  const { callId } = request;
  const known = store.attempts.find(request.attempt);
  if (known?.state === RETIRED) return refused('attempt_retired');
  const again = known && admittedBefore(store, known, request);
  if (again) return again;

  const resend = known && request.resend ? findResend(store, known, callId, request.resend) : { kind: 'none' as const };
  if (known?.state === CLOSED && resend.kind !== 'joins') return refused('attempt_closed');
  if (resend.kind === 'reused_key') return refused('idempotency_key_reused');
  if (known && resend.kind === 'joins') {
    store.handovers.join(known.id, request.resend!.requestDigest, resend.callId, callId);
    return { kind: 'joined', callId: resend.callId };
  }
  if (request.afterFailure === 'refuse' && known && known.failures > 0) return refused('attempt_incomplete');
  if ((known?.intents ?? 0) >= request.maxCalls) return refused('too_many_calls');

  const found = search(store, known, request);
  if (found.kind === 'refused') return refused(found.code);
  const attempt = known ?? store.attempts.create(request.attempt, OPEN, request.admittedAtS);
  attempt.last_activity_s = Math.max(attempt.last_activity_s, request.admittedAtS);
  store.attempts.changed(attempt);
  if (found.kind === 'unresolved') {
    insertFailure(store, attempt, callId, 'unresolved_parent');
    return { kind: 'unresolved' };
  }
  insertIntent(store, attempt, request, found);
  return admitted(store, attempt, request, found.candidate, found.rooted, attempt.records);
}

/** The outcome of an earlier run of the same admission. */
function admittedBefore(store: Store, attempt: Attempt, request: AdmitRequest): AdmitOutcome | undefined {
  const call = findCall(store, attempt, request.callId);
  if (call) {
    if (call.request !== admissionDigest(request)) return refused('duplicate_call');
    const candidate = call.candidate === null ? null : readRecord(store, attempt, call.candidate);
    return admitted(store, attempt, request, candidate, call, call.records_seen);
  }
  const sql = `SELECT 1 FROM failure WHERE attempt = ? AND call_id = ? AND reason = 'unresolved_parent'`;
  return attempt.failures > 0 && store.db.get(sql, attempt.id, request.callId) ? { kind: 'unresolved' } : undefined;
}

function admitted(
  store: Store,
  attempt: Attempt,
  request: AdmitRequest,
  candidate: RecordRow | null,
  rooted: Rooted,
  recordsSeen: number,
): AdmitOutcome {
  const proposed = candidate && toCandidate(store, attempt, candidate, request.boundary!.sourceDigest);
  const { rooted_by: rootedBy, named_call_id } = rooted;
  const namedCallId = named_call_id ?? undefined;
  return { kind: 'admitted', candidate: proposed, rootedBy, ...(namedCallId && { namedCallId }), recordsSeen };
}

function insertIntent(
  store: Store,
  attempt: Attempt,
  request: AdmitRequest,
  found: Extract<Found, { kind: 'found' }>,
): void {
  const { callId, replica, admittedAtS, resend } = request;
  insertCall(store, attempt, {
    call_id: callId,
    replica,
    admittedAtS,
    request: admissionDigest(request),
    candidate: found.candidate?.number ?? null,
    ...found.rooted,
    records_seen: attempt.records,
    request_digest: resend?.requestDigest ?? null,
    idempotency_key: resend?.idempotencyKey ?? null,
  });
  if (resend) store.handovers.add(attempt.id, resend.requestDigest, callId, callId);
}
