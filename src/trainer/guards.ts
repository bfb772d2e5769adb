import type { CallRecord } from '../protocol/wire/ledger.ts';
import { stagingKey } from '../protocol/wire/primitives.ts';
import type { LedgerView } from './ledger-view.ts';
import { type Reason, reason } from './reasons.ts';

/**
 * Guards on the ledger as a whole (protocol section 11): pending calls and lost evidence mask the rollout, whatever was selected. `selected` null:
 * the selection failed, so that no call can be shown to be outside of it.
 */
export function guardLedger(ledger: LedgerView, selected: readonly CallRecord[] | null): Reason[] {
  const reasons: Reason[] = [];
  const pending = ledger.pendingCallIds;
  for (const callId of pending)
    reasons.push(reason('pending_calls', `call ${callId} is pending: its worker may have written`, { callId }));

  const recorded = new Set(ledger.records.map((record) => record.model_call_id));
  const chosen = new Set(selected?.map((record) => record.model_call_id));
  for (const { model_call_id: callId, reason: why } of ledger.failures) {
    const settledLate =
      why === 'request_finished_without_staged_coordinates' &&
      recorded.has(callId) &&
      pending.length === 0 &&
      selected !== null &&
      !chosen.has(callId);
    if (!settledLate) reasons.push(reason('lost_evidence', `call ${callId} has the failure ${why}`, { callId }));
  }
  for (const callId of ledger.attemptedCallIds ?? []) {
    if (recorded.has(callId) || pending.includes(callId)) continue;
    reasons.push(
      reason('lost_evidence', `call ${callId} was attempted and is neither recorded nor pending`, { callId }),
    );
  }
  if (ledger.records.length === 0) reasons.push(reason('no_records', `attempt ${ledger.attempt} has no recorded call`));
  return reasons;
}

/** Guards on each selected call: how it ended, and whether its staging key is its own. */
export function guardSelected(ledger: LedgerView, selected: readonly CallRecord[]): Reason[] {
  const reasons: Reason[] = [];
  for (const record of selected) {
    const callId = record.model_call_id;
    const status = guardStatus(record);
    if (status !== null) reasons.push(status);
    if (record.staging_key !== stagingKey(ledger.attempt, callId)) {
      const foreign = !record.staging_key.startsWith(`${ledger.attempt}/`);
      const message = `call ${callId} has the staging key ${record.staging_key}, not ${stagingKey(ledger.attempt, callId)}`;
      reasons.push(reason(foreign ? 'foreign_owner' : 'staging_key_mismatch', message, { callId }));
    }
  }
  return reasons;
}

/** Success is never inferred from absence. Records of schema 2 have no status. */
function guardStatus(record: CallRecord): Reason | null {
  if (record.schema_version === 2) return null;
  const { model_call_id: callId, response_status: status, finish_reason: finishReason } = record;
  if (status === 'completed' || (status === 'incomplete' && finishReason !== null)) return null;
  if (status === 'failed') return reason('logical_execution_failure', `selected call ${callId} failed`, { callId });
  const what =
    status === null
      ? 'has no status'
      : `has the status ${status}${finishReason === null ? ' and no finish reason' : ''}`;
  return reason('missing_completion_metadata', `selected call ${callId} ${what}: missing completion metadata`, {
    callId,
  });
}
