import type { CallRecordV3 } from '../../protocol/wire/ledger.ts';
import type { AuthoredItem } from '../authored-items.ts';
import { type Checked, ok, reason, refused } from '../reasons.ts';
import { callsAt, type Placed } from './calls-at.ts';
import type { HistoryIndex } from './history-index.ts';

/**
 * The trajectory names the calls, in order: the selection is theirs, and returned items, where there are any, must be exactly their output.
 * Refused with the first item, or the first call, at which both differ.
 */
export function matchReferences(index: HistoryIndex, references: readonly CallRecordV3[]): Checked<readonly Placed[]> {
  if (index.items.length === 0) return ok(references.map((record) => ({ record, from: 0, to: 0 })));
  const placed: Placed[] = [];
  let from = 0;
  for (const record of references) {
    if (record.output_items?.length === 0) {
      placed.push({ record, from, to: from });
      continue;
    }
    const next = callsAt(index, from).find((choice) => choice.record === record);
    if (next === undefined) return disagree(index.items[from], record);
    placed.push(next);
    from = next.to;
  }
  return from < index.items.length ? disagree(index.items[from], undefined) : ok(placed);
}

function disagree(item: AuthoredItem | undefined, record: CallRecordV3 | undefined) {
  const about = {
    ...(item === undefined ? {} : { itemIndex: item.itemIndex }),
    ...(record === undefined ? {} : { callId: record.model_call_id }),
  };
  const items = item === undefined ? 'the returned items end' : `${item.path} (${item.type}) is no part of it`;
  const message =
    record === undefined
      ? `the trajectory names no further call, but ${item?.path} (${item?.type}) follows`
      : `the trajectory names call ${record.model_call_id} next, but ${items}`;
  return refused(reason('forms_disagree', message, about));
}
