import type { CallRecordV3 } from '../../protocol/wire/ledger.ts';
import type { AuthoredItem } from '../authored-items.ts';
import { type Reason, reason } from '../reasons.ts';
import { callsAt } from './calls-at.ts';
import type { HistoryIndex } from './history-index.ts';

/** Names the first item at which no cover goes on, and why no call can stand there. */
export function explainUnmatched(index: HistoryIndex): Reason {
  const at = furthest(index);
  const item = index.items[at] as AuthoredItem;
  const [why, callId] = whyNot(index, at);
  const message = `${item.path} (${item.type}) matches no captured call: ${why}`;
  return reason('item_unmatched', message, { itemIndex: item.itemIndex, ...(callId === null ? {} : { callId }) });
}

/** The largest item that whole calls lead up to. */
function furthest(index: HistoryIndex): number {
  const reached = new Set([0]);
  let last = 0;
  for (let at = 0; at < index.items.length; at++) {
    if (!reached.has(at)) continue;
    last = at;
    for (const { to } of callsAt(index, at)) reached.add(to);
  }
  return last;
}

function whyNot(index: HistoryIndex, at: number): [why: string, callId: string | null] {
  const item = index.items[at] as AuthoredItem;
  const starting = index.starts.get(item.fingerprint) ?? [];
  for (const record of starting) {
    const why = whyNotHere(index, record, at);
    if (why !== null) return [why, record.model_call_id];
  }
  for (const record of index.records) {
    const position = (record.output_items ?? []).findIndex((row) => row.fingerprint === item.fingerprint);
    if (position > 0) {
      const callId = record.model_call_id;
      return [`it is item ${position} of call ${callId}, whose items before it do not stand before it`, callId];
    }
  }
  return ['no captured call has an item with this content', null];
}

/** Why a call whose first item equals the item at `from` cannot stand there. */
function whyNotHere(index: HistoryIndex, record: CallRecordV3, from: number): string | null {
  const callId = record.model_call_id;
  const rows = record.output_items ?? [];
  for (const [at, row] of rows.entries()) {
    const item = index.items[from + at];
    const places = index.places[from + at];
    if (
      item === undefined ||
      from + at >= (index.envelopeEnds[from] as number) ||
      item.fingerprint !== row.fingerprint
    ) {
      return `call ${callId} begins so, but its item ${at} of ${rows.length} is not the next one`;
    }
    if (places !== undefined && !places.some((place) => place.record === record && place.at === at)) {
      return `call ${callId} has this content, but ${item.path} carries the id of call ${places[0]?.record.model_call_id}`;
    }
  }
  const pinned = index.pinnedEnds.get(record);
  if (pinned !== undefined && pinned !== from + rows.length) {
    return `call ${callId} has this content, but a response id says that it stands elsewhere`;
  }
  const allowed = index.endPins.get(from + rows.length);
  if (allowed !== undefined && !allowed.has(record)) {
    const names = [...allowed].map((other) => other.model_call_id).join(' or ');
    return `call ${callId} has this content, but the response id says that call ${names} ends there`;
  }
  return null;
}
