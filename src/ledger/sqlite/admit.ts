import { admissionDigest } from '../admission-digest.ts';
import type { AdmitOutcome, AdmitRefusal, AdmitRequest } from '../ledger.ts';
import { type Attempt, CLOSED, OPEN, RETIRED } from './attempts.ts';
import { findCall, insertCall, insertFailure } from './calls.ts';
import { type RecordRow, readRecord, toCandidate } from './records.ts';
import { findResend, type Resend } from './replies.ts';
import { type Found, type Rooted, search } from './search.ts';
import type { Store } from './store.ts';

const refused = <Code extends AdmitRefusal>(code: Code) => ({ kind: 'refused', code }) as const;

/** See Ledger.admit; the checks stand in the order in which they are promised there. */
export function admit(store: Store, request: AdmitRequest): AdmitOutcome {
  const known = store.attempts.find(request.attempt);
  if (known?.state === RETIRED) return refused('attempt_retired');
  const decision = decide(store, known, request);
  // There hardly ever is an earlier run of this admission. Where the call would get an intent, it shows by that of the earlier one.
  if (known && (decision.kind !== 'found' || known.failures > 0)) {
    const again = admittedBefore(store, known, request);
    if (again) return again;
  }
  return carryOut(store, known, request, decision);
}

type Decision = Found | Extract<Resend, { kind: 'joins' }> | { readonly kind: 'refused'; readonly code: AdmitRefusal };

/** What becomes of a call that was not admitted before. Changes nothing. */
function decide(store: Store, known: Attempt | undefined, request: AdmitRequest): Decision {
  const none = { kind: 'none' } as const;
  const resend = known && request.resend ? findResend(store, known, request.callId, request.resend) : none;
  if (known?.state === CLOSED && resend.kind !== 'joins') return refused('attempt_closed');
  if (resend.kind === 'reused_key') return refused('idempotency_key_reused');
  if (resend.kind === 'joins') return resend;
  if (request.afterFailure === 'refuse' && known && known.failures > 0) return refused('attempt_incomplete');
  if ((known?.intents ?? 0) >= request.maxCalls) return refused('too_many_calls');
  return search(store, known, request);
}

function carryOut(store: Store, known: Attempt | undefined, request: AdmitRequest, decision: Decision): AdmitOutcome {
  const { callId } = request;
  if (decision.kind === 'refused') return refused(decision.code);
  if (decision.kind === 'joins') {
    store.handovers.join(known!.id, request.resend!.requestDigest, decision.callId, callId);
    return { kind: 'joined', callId: decision.callId };
  }
  const attempt = known ?? store.attempts.create(request.attempt, OPEN, request.admittedAtS);
  const recordsSeen = attempt.records;
  if (decision.kind === 'found' && !insertIntent(store, attempt, request, decision)) {
    const again = admittedBefore(store, attempt, request);
    if (!again) throw new Error(`call ${callId} is neither new nor known`);
    return again;
  }
  attempt.last_activity_s = Math.max(attempt.last_activity_s, request.admittedAtS);
  store.attempts.changed(attempt);
  if (decision.kind === 'unresolved') {
    insertFailure(store, attempt, callId, 'unresolved_parent');
    return { kind: 'unresolved' };
  }
  return admitted(store, attempt, request, decision.candidate, decision.rooted, recordsSeen);
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

/** False where there is an intent of this id. */
function insertIntent(
  store: Store,
  attempt: Attempt,
  request: AdmitRequest,
  found: Extract<Found, { kind: 'found' }>,
): boolean {
  const { callId, replica, admittedAtS, resend } = request;
  const inserted = insertCall(store, attempt, {
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
  if (inserted && resend) store.handovers.add(attempt.id, resend.requestDigest, callId, callId);
  return inserted;
}
