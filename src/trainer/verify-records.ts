import type { CallRecord } from '../protocol/wire/ledger.ts';
import type { LedgerView } from './ledger-view.ts';
import { type Reason, reason } from './reasons.ts';

/** Checks what the records of selected calls say about lengths and modes (protocol sections 4, 6 and 7), before anything is built on them. */
export function verifyRecords(ledger: LedgerView, selected: readonly CallRecord[]): Reason[] {
  const byId = new Map(ledger.records.map((record) => [record.model_call_id, record]));
  return selected.flatMap((record) => verifyRecord(record, byId));
}

function verifyRecord(record: CallRecord, byId: ReadonlyMap<string, CallRecord>): Reason[] {
  const reasons: Reason[] = [];
  const {
    model_call_id: callId,
    parent_call_id: parentId,
    prev_len: prev,
    delta_len: delta,
    cum_len: cum,
    mode,
  } = record;
  if (prev + delta !== cum) {
    reasons.push(
      reason('length_mismatch', `call ${callId}: prev_len ${prev} + delta_len ${delta} is not cum_len ${cum}`, {
        callId,
      }),
    );
  }
  if ((mode === 'text') !== (parentId === null)) {
    const what = parentId === null ? 'no parent' : 'a parent';
    reasons.push(reason('mode_mismatch', `call ${callId} has the mode ${mode} and ${what}`, { callId }));
  }
  const parent = parentId === null ? undefined : byId.get(parentId);
  if (parentId === null && prev !== 0) {
    reasons.push(reason('not_contiguous', `call ${callId} is a root and begins at ${prev}`, { callId }));
  } else if (parent !== undefined && prev !== parent.cum_len) {
    const message = `call ${callId} begins at ${prev}, its parent ${parentId} ends at ${parent.cum_len}`;
    reasons.push(reason('not_contiguous', message, { callId }));
  }
  return reasons;
}
