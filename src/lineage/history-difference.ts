import {
  type DifferingPart,
  differences,
  type Lengths,
  type PartDifference,
  partialEcho,
  sameItem,
} from './compare-items.ts';
import type { RecordedHistory } from './recorded-histories.ts';
import type { ItemSketch } from './sketch.ts';

/** Where a request leaves a recorded history, and how: for people, never content (protocol section 7). */
export interface HistoryDifference {
  /** The nearest record. */
  readonly model_call_id: string;
  /** First item that differs, counted from 0, and its role (the record's, where the request has none there). */
  readonly index: number;
  readonly role: string;
  /**
   * Beside the parts of an item: `missing` (items of the record are not in the request), `inserted` (the request has items in between),
   * `partial_echo` (a served turn repeated only up to one of its items), `role`, `unrecorded_turn` (an assistant turn that no record served),
   * `same_prompt` (the prompt of the record once more) and `cut_off` (the request ends inside the record's history).
   */
  readonly part:
    | DifferingPart
    | 'role'
    | 'missing'
    | 'inserted'
    | 'partial_echo'
    | 'unrecorded_turn'
    | 'same_prompt'
    | 'cut_off';
  /** Of the differing part; of the histories in items, where it is no part of one item. */
  readonly lengths: Lengths;
  /** All parts of the item that differ, where there is more than one. */
  readonly parts?: readonly string[];
  readonly call_index?: number;
  readonly arguments?: readonly string[];
  /** How many items are missing or inserted. */
  readonly items?: number;
  /** The call whose served turn is missing, or differs. */
  readonly turn_of?: string;
  /** `partial_echo`: how many of the turn's output items were repeated. */
  readonly echoed_items?: number;
  readonly served_items?: number;
  readonly explanation: string;
}

/** Tells how a request leaves a record that it does not wholly repeat, or goes on from one in a way that no record knows. */
export function historyDifference(record: RecordedHistory, request: readonly ItemSketch[]): HistoryDifference {
  const index = record.common;
  const recorded = record.items[index];
  const asked = request[index];
  if (recorded === undefined) return unrecordedTurn(record, request);
  if (asked === undefined) return endsInside(record, request, recorded);
  return movedItems(record, request, recorded, asked) ?? changedItem(record, request, recorded, asked);
}

type Described = Omit<HistoryDifference, 'model_call_id' | 'index' | 'role'>;

function difference(record: RecordedHistory, index: number, role: string, rest: Described): HistoryDifference {
  return { model_call_id: record.callId, index, role, ...rest };
}

function historyLengths(record: RecordedHistory, request: readonly ItemSketch[]): Lengths {
  return { record: record.items.length, request: request.length };
}

/** The request repeats the record and goes on with assistant turns that no record served. */
function unrecordedTurn(record: RecordedHistory, request: readonly ItemSketch[]): HistoryDifference {
  const found = request.findIndex((item, at) => at >= record.common && item.role === 'assistant');
  const index = found < 0 ? record.common : found;
  const turn = found < 0 ? '' : `, but its item ${index} is an assistant turn that no recorded call served there`;
  return difference(record, index, request[index]?.role ?? 'assistant', {
    part: 'unrecorded_turn',
    lengths: historyLengths(record, request),
    explanation: `The request extends call ${record.callId}${turn}.`,
  });
}

function endsInside(record: RecordedHistory, request: readonly ItemSketch[], recorded: ItemSketch): HistoryDifference {
  const index = request.length;
  const lengths = historyLengths(record, request);
  const turnOf = record.servedBy(index);
  if (turnOf !== null)
    return difference(record, index, recorded.role, {
      part: 'same_prompt',
      lengths,
      turn_of: turnOf,
      explanation: `The request is the prompt of call ${turnOf} once more: another sample of it, which continues no recorded call.`,
    });
  return difference(record, index, recorded.role, {
    part: 'cut_off',
    lengths,
    explanation: `The request ends after ${count(index, 'item')} inside the history of call ${record.callId}, which has ${record.items.length}.`,
  });
}

/** Items that are missing, inserted or in another order. */
function movedItems(
  record: RecordedHistory,
  request: readonly ItemSketch[],
  recorded: ItemSketch,
  asked: ItemSketch,
): HistoryDifference | null {
  const index = record.common;
  const next = record.items[index + 1];
  const nextAsked = request[index + 1];
  // Where the histories go on alike the item was changed in its place, even if one like it stands elsewhere.
  if (next !== undefined && nextAsked !== undefined && sameItem(next, nextAsked)) return null;
  const later = record.items.findIndex((item, at) => at > index && sameItem(item, asked));
  const laterAsked = request.findIndex((item, at) => at > index && sameItem(recorded, item));
  const lengths = historyLengths(record, request);
  if (later >= 0 && laterAsked >= 0)
    return difference(record, index, asked.role, {
      part: 'order',
      lengths,
      explanation: `The items from ${index} on stand in another order than in call ${record.callId}.`,
    });
  if (laterAsked >= 0)
    return difference(record, index, asked.role, {
      part: 'inserted',
      items: laterAsked - index,
      lengths,
      explanation: `The request has ${count(laterAsked - index, 'item')} more at ${index} than call ${record.callId}.`,
    });
  if (later >= 0) return missing(record, lengths, recorded, later - index);
  return recorded.role === 'assistant' && asked.role !== 'assistant' ? missing(record, lengths, recorded, 1) : null;
}

function missing(record: RecordedHistory, lengths: Lengths, recorded: ItemSketch, items: number): HistoryDifference {
  const index = record.common;
  const turnOf = recorded.role === 'assistant' ? record.servedBy(index) : null;
  const what =
    turnOf === null ? `item ${index} (${recorded.role}) of call ${record.callId}` : `the turn of call ${turnOf}`;
  return difference(record, index, recorded.role, {
    part: 'missing',
    items,
    lengths,
    ...(turnOf === null ? {} : { turn_of: turnOf }),
    explanation: `At item ${index} ${what} is missing${items > 1 ? `, with ${count(items - 1, 'item')} after it` : ''}.`,
  });
}

function changedItem(
  record: RecordedHistory,
  request: readonly ItemSketch[],
  recorded: ItemSketch,
  asked: ItemSketch,
): HistoryDifference {
  const index = record.common;
  if (recorded.role !== asked.role)
    return difference(record, index, asked.role, {
      part: 'role',
      lengths: historyLengths(record, request),
      explanation: `Item ${index} has role ${asked.role}, in call ${record.callId} it has role ${recorded.role}.`,
    });
  const turnOf = asked.role === 'assistant' ? record.servedBy(index) : null;
  const ofTurn = turnOf === null ? {} : { turn_of: turnOf };
  const echo = asked.role === 'assistant' ? partialEcho(recorded, asked) : null;
  if (echo !== null && echo.echoed > 0)
    return difference(record, index, asked.role, {
      part: 'partial_echo',
      lengths: { record: echo.served, request: echo.echoed },
      ...ofTurn,
      echoed_items: echo.echoed,
      served_items: echo.served,
      explanation: `The output of call ${turnOf ?? record.callId} was echoed only up to item ${echo.echoed} of ${echo.served}.`,
    });
  const found = differences(recorded, asked);
  const first = found[0] ?? { part: 'text', lengths: { record: 0, request: 0 } };
  return difference(record, index, asked.role, {
    ...first,
    ...(found.length > 1 ? { parts: found.map(({ part }) => part) } : {}),
    ...ofTurn,
    explanation: `Item ${index} (${asked.role}) differs from that of call ${record.callId}: ${described(first)}.`,
  });
}

function described(found: PartDifference): string {
  const { record, request } = found.lengths;
  const place = found.call_index === undefined ? '' : ` of tool call ${found.call_index}`;
  const named = found.arguments === undefined ? '' : ` (${found.arguments.join(', ')})`;
  return `its ${found.part.replace('_', ' ')}${place}${named}, ${record} there and ${request} here`;
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
