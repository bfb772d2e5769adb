import type { CallRecord, CallRecordV3 } from '../../protocol/wire/ledger.ts';
import type { AuthoredItem } from '../authored-items.ts';
import { type Checked, ok, type Reason, reason, refused } from '../reasons.ts';
import type { ReturnedPart, SilentTurn } from '../returned-items.ts';

/** Where an output item stands: item `at` of the output of `record`. */
export interface OutputPlace {
  readonly record: CallRecordV3;
  readonly at: number;
}

/** The returned history and the captured calls, made ready for matching: what may stand where, as far as ids and pins say. */
export interface HistoryIndex {
  readonly items: readonly AuthoredItem[];
  readonly records: readonly CallRecordV3[];
  /** Records by the fingerprint of their first output item. */
  readonly starts: ReadonlyMap<string, readonly CallRecordV3[]>;
  /** Per item: the output items that its ids name; undefined where they name none. */
  readonly places: readonly (readonly OutputPlace[] | undefined)[];
  /** Per item: one past the last item of its envelope. A call never spans two. */
  readonly envelopeEnds: readonly number[];
  /** End position of an envelope -> the calls that may end there, where its id names any with output. */
  readonly endPins: ReadonlyMap<number, ReadonlySet<CallRecordV3>>;
  /** Call -> the one position where it may end, since an envelope's id names it. */
  readonly pinnedEnds: ReadonlyMap<CallRecordV3, number>;
  /** Calls without any output that an envelope's id names, with the position where they stand. */
  readonly silentCalls: readonly { readonly record: CallRecordV3; readonly at: number }[];
  /** Returned turns without items, by how many items of the whole history stand before them. */
  readonly silentTurns: readonly SilentTurn[];
  /** Calls that ids alone require. */
  readonly required: ReadonlySet<CallRecordV3>;
}

/**
 * Builds the index; contradictions between ids, content and envelopes are refused here. `alsoRequired`: calls that are required for other
 * reasons than the ids in the history, such as the declared scored one.
 */
export function indexHistory(
  parts: readonly ReturnedPart[],
  records: readonly CallRecordV3[],
  alsoRequired: readonly CallRecordV3[],
): Checked<HistoryIndex> {
  const items = parts.flatMap((part) => part.items);
  const named = placesById(records);
  const reasons: Reason[] = [];
  const required = new Set<CallRecordV3>(alsoRequired);
  const places = items.map((item) => {
    const found = placesOf(item, named);
    if (!found.ok) {
      reasons.push(...found.reasons);
      return undefined;
    }
    const calls = new Set(found.value?.map(({ record }) => record));
    if (calls.size === 1) for (const call of calls) required.add(call);
    return found.value;
  });
  if (reasons.length > 0) return refused(...reasons);
  const reused = findReuse(items, named);
  if (reused !== null) return refused(reused);

  const pins = pinEnvelopes(parts, records);
  if (!pins.ok) return pins;
  for (const record of pins.value.pinnedEnds.keys()) required.add(record);
  const silentTurns = silentTurnsOf(parts);
  return ok({ items, records, starts: byFirstFingerprint(records), places, ...pins.value, silentTurns, required });
}

function silentTurnsOf(parts: readonly ReturnedPart[]): SilentTurn[] {
  let before = 0;
  return parts.flatMap((part) => {
    const first = before;
    before += part.items.length;
    return part.silentTurns.map((turn) => ({ ...turn, at: first + turn.at }));
  });
}

function byFirstFingerprint(records: readonly CallRecordV3[]): Map<string, CallRecordV3[]> {
  const starts = new Map<string, CallRecordV3[]>();
  for (const record of records) {
    const first = record.output_items?.[0];
    if (first === undefined) continue;
    const list = starts.get(first.fingerprint);
    if (list === undefined) starts.set(first.fingerprint, [record]);
    else list.push(record);
  }
  return starts;
}

function placesById(records: readonly CallRecordV3[]): Map<string, OutputPlace[]> {
  const named = new Map<string, OutputPlace[]>();
  for (const record of records) {
    for (const [at, row] of (record.output_items ?? []).entries()) {
      if (row.id === null) continue;
      const list = named.get(row.id);
      if (list === undefined) named.set(row.id, [{ record, at }]);
      else list.push({ record, at });
    }
  }
  return named;
}

/** The output items that all known ids of an item name and that have its content; undefined where no id is known. */
function placesOf(
  item: AuthoredItem,
  named: ReadonlyMap<string, OutputPlace[]>,
): Checked<readonly OutputPlace[] | undefined> {
  const { itemIndex } = item;
  let places: readonly OutputPlace[] | undefined;
  for (const id of item.ids) {
    const known = named.get(id);
    if (known === undefined) continue;
    const before = places;
    places =
      before === undefined
        ? known
        : known.filter((place) => before.some((other) => other.record === place.record && other.at === place.at));
    if (places.length === 0) {
      const message = `${item.path} (${item.type}) carries ids of different calls: ${item.ids.join(', ')}`;
      return refused(reason('item_contradicts_id', message, { itemIndex }));
    }
  }
  const same = places?.filter(({ record, at }) => record.output_items?.[at]?.fingerprint === item.fingerprint);
  if (places !== undefined && same?.length === 0) {
    const calls = [...new Set(places.map(({ record }) => record.model_call_id))].join(', ');
    const message = `${item.path} (${item.type}) carries the id of an item of call ${calls}, but not its content`;
    return refused(
      reason('item_contradicts_id', message, { itemIndex, callId: places[0]?.record.model_call_id as string }),
    );
  }
  return ok(same);
}

/** An id that names captured items may stand in the history as often as there are such items. */
function findReuse(items: readonly AuthoredItem[], named: ReadonlyMap<string, OutputPlace[]>): Reason | null {
  const seen = new Map<string, AuthoredItem[]>();
  for (const item of items) {
    for (const id of item.ids) {
      const owners = named.get(id);
      if (owners === undefined) continue;
      const before = seen.get(id) ?? [];
      if (before.length >= owners.length) {
        const message = `${item.path} (${item.type}) and ${before[0]?.path} are the same item ${id} of call ${owners[0]?.record.model_call_id}`;
        return reason('call_reused', message, {
          itemIndex: item.itemIndex,
          callId: owners[0]?.record.model_call_id as string,
        });
      }
      seen.set(id, [...before, item]);
    }
  }
  return null;
}

type Pins = Pick<HistoryIndex, 'envelopeEnds' | 'endPins' | 'pinnedEnds' | 'silentCalls'>;

function pinEnvelopes(parts: readonly ReturnedPart[], records: readonly CallRecordV3[]): Checked<Pins> {
  const envelopeEnds: number[] = [];
  const endPins = new Map<number, Set<CallRecordV3>>();
  const pinnedEnds = new Map<CallRecordV3, number>();
  const silentCalls: { record: CallRecordV3; at: number }[] = [];
  const pinnedBy = new Map<CallRecord, string>();
  const byResponse = Map.groupBy(records, (record) => record.response_id);
  let end = 0;
  for (const part of parts) {
    end += part.items.length;
    for (const _ of part.items) envelopeEnds.push(end);
    const named = part.id === null ? [] : (byResponse.get(part.id) ?? []);
    for (const record of named) {
      const callId = record.model_call_id;
      const before = pinnedBy.get(record);
      if (before !== undefined && named.length === 1) {
        return refused(
          reason('call_reused', `${before} and ${part.path} both carry the response id of call ${callId}`, { callId }),
        );
      }
      pinnedBy.set(record, part.path);
      if (record.output_items === null) {
        const message = `${part.path} carries the response id of call ${callId}, whose output could not be fingerprinted`;
        return refused(reason('item_unmatched', message, { callId }));
      }
      if (record.output_items.length === 0) {
        if (named.length === 1) silentCalls.push({ record, at: end });
        continue;
      }
      if (part.items.length === 0 && named.length === 1) {
        const message = `${part.path} carries the response id of call ${callId} and holds none of its items`;
        return refused(reason('item_unmatched', message, { callId }));
      }
      if (part.items.length === 0) continue;
      endPins.set(end, (endPins.get(end) ?? new Set()).add(record));
      if (named.length === 1) pinnedEnds.set(record, end);
    }
  }
  return ok({ envelopeEnds, endPins, pinnedEnds, silentCalls });
}
