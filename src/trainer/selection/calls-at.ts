import type { CallRecordV3 } from '../../protocol/wire/ledger.ts';
import type { HistoryIndex } from './history-index.ts';

/** A call found at items `from` to before `to`. */
export interface Placed {
  readonly record: CallRecordV3;
  readonly from: number;
  readonly to: number;
}

/** Calls that may stand at item `from` as far as content, ids, envelopes and pins say. */
export function callsAt(index: HistoryIndex, from: number): Placed[] {
  const item = index.items[from];
  if (item === undefined) return [];
  const placed: Placed[] = [];
  for (const record of index.starts.get(item.fingerprint) ?? []) {
    const rows = record.output_items ?? [];
    const to = from + rows.length;
    if (to > (index.envelopeEnds[from] as number)) continue;
    const fits = rows.every((row, at) => {
      const places = index.places[from + at];
      return (
        index.items[from + at]?.fingerprint === row.fingerprint &&
        (places === undefined || places.some((place) => place.record === record && place.at === at))
      );
    });
    if (fits && mayEndAt(index, record, to)) placed.push({ record, from, to });
  }
  return placed;
}

function mayEndAt(index: HistoryIndex, record: CallRecordV3, end: number): boolean {
  const pinned = index.pinnedEnds.get(record);
  if (pinned !== undefined && pinned !== end) return false;
  const allowed = index.endPins.get(end);
  return allowed === undefined || allowed.has(record);
}
