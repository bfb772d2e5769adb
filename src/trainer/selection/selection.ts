import type { CallRecord } from '../../protocol/wire/ledger.ts';
import type { LedgerView } from '../ledger-view.ts';
import { type Checked, reason, refused } from '../reasons.ts';
import type { HarnessResult } from '../result.ts';

/** Which items of the returned output a selected call was found in: `from` to before `to`, counted over authored items. */
export interface ItemMatch {
  readonly callId: string;
  readonly from: number;
  readonly to: number;
}

/** The calls that the agent accepted, in the order of the returned history, and the one that was scored. */
export interface Selection {
  readonly policy: string;
  readonly calls: readonly CallRecord[];
  readonly scored: CallRecord | null;
  /** How the scored call was found, in words. */
  readonly scoredBy: string;
  readonly matches: readonly ItemMatch[];
}

/** Decides which calls are trained on. Pure, but for custom ones that may be asynchronous. */
export interface SelectionPolicy {
  readonly name: string;
  select(ledger: LedgerView, result: HarnessResult): Checked<Selection> | Promise<Checked<Selection>>;
}

/** The one record that a response id names; `unknown_reference` where it names none or several. `what` says where the id stands. */
export function recordOfResponse(
  records: readonly CallRecord[],
  responseId: string,
  what: string,
): Checked<CallRecord> {
  const found = records.filter((record) => record.response_id === responseId);
  const [only] = found;
  if (only !== undefined && found.length === 1) return { ok: true, value: only };
  const why =
    only === undefined
      ? 'no captured call'
      : `${found.length} captured calls: ${found.map((record) => record.model_call_id).join(', ')}`;
  return refused(reason('unknown_reference', `${what} (${responseId}) names ${why}`));
}
