import type { CallRecord } from '../../protocol/wire/ledger.ts';
import { isLengthLimited } from '../completion.ts';
import type { LedgerView } from '../ledger-view.ts';
import { type Checked, ok, reason, refused } from '../reasons.ts';
import type { HarnessResult } from '../result.ts';
import { recordOfResponse, type Selection, type SelectionPolicy } from './selection.ts';
import { askWitnesses } from './witnesses.ts';

/**
 * `all_captured` (protocol section 11): every recorded call in commit order, except leaves that were not scored and whose status is failed or
 * unknown, or incomplete for another reason than length. Needs a scored call that the result declares or that its response attributes.
 */
export const allCaptured: SelectionPolicy = { name: 'all_captured', select: selectAllCaptured };

/** See {@link allCaptured}. */
export function selectAllCaptured(ledger: LedgerView, result: HarnessResult): Checked<Selection> {
  const scored = findScored(ledger, result);
  if (!scored.ok) return scored;
  const parents = new Set(ledger.records.map((record) => record.parent_call_id));
  const calls = ledger.records.filter((record) => {
    return record === scored.value.record || parents.has(record.model_call_id) || isUsable(record);
  });
  return ok({ policy: allCaptured.name, calls, scored: scored.value.record, scoredBy: scored.value.by, matches: [] });
}

/** Records of schema 2 do not say how a call ended; nothing is held against them. */
function isUsable(record: CallRecord): boolean {
  if (record.schema_version === 2 || record.response_status === 'completed') return true;
  return record.response_status === 'incomplete' && isLengthLimited(record);
}

function findScored(ledger: LedgerView, result: HarnessResult): Checked<{ record: CallRecord; by: string }> {
  if (result.terminalResponseId !== null) {
    const named = recordOfResponse(ledger.records, result.terminalResponseId, 'terminal_response_id');
    return named.ok ? ok({ record: named.value, by: 'terminal_response_id names it' }) : named;
  }
  const attribution = askWitnesses(ledger, result);
  if (attribution.kind === 'agreed') return ok({ record: attribution.record, by: `${attribution.by} says so` });
  const why =
    attribution.kind === 'none' ? 'neither terminal_response_id nor the response names a call' : attribution.message;
  return refused(reason('scored_call_unknown', `the scored call cannot be attributed: ${why}`));
}
