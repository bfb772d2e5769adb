import type { CallRecordV3 } from '../../protocol/wire/ledger.ts';
import { type Checked, ok, reason, refused } from '../reasons.ts';
import { callsAt, type Placed } from './calls-at.ts';
import { type Covers, enumerateCovers } from './enumerate-covers.ts';
import { explainUnmatched } from './explain-unmatched.ts';
import type { HistoryIndex } from './history-index.ts';

/**
 * Covers the returned items, left to right, with whole captured calls, each used once (protocol section 11). One cover: that is the selection.
 * Several: those count that hold every call which ids require, and its ancestors; one must remain, else the first item where two differ is
 * named with both calls. None: the item where matching ends is named.
 */
export function matchHistory(index: HistoryIndex): Checked<readonly Placed[]> {
  const choices = viableChoices(index);
  if (index.items.length > 0 && (choices[0]?.length ?? 0) === 0) return refused(explainUnmatched(index));
  const all = enumerateCovers(choices, new Set());
  switch (all.kind) {
    case 'one':
      return ok(all.cover);
    case 'none':
      return refused(explainReuse(index, choices));
    case 'several':
    case 'too_many': {
      const settled = settle(index, choices);
      if (settled.kind === 'one') return ok(settled.cover);
      return refused(explainAmbiguity(index, choices, settled.kind === 'several' ? settled : all));
    }
    default:
      return all satisfies never;
  }
}

/** Per item, the calls that may begin there and from whose end the last item can be reached. */
function viableChoices(index: HistoryIndex): Placed[][] {
  const choices: Placed[][] = index.items.map(() => []);
  for (let from = index.items.length - 1; from >= 0; from--) {
    choices[from] = callsAt(index, from).filter(
      ({ to }) => to === index.items.length || (choices[to] as Placed[]).length > 0,
    );
  }
  return choices;
}

/** The covers that hold all required calls with their ancestors, as far as these can stand anywhere. */
function settle(index: HistoryIndex, choices: readonly (readonly Placed[])[]): Covers {
  const placeable = new Set(choices.flatMap((list) => list.map(({ record }) => record)));
  const required = new Set([...withAncestors(index)].filter((record) => placeable.has(record)));
  return required.size === 0 ? { kind: 'none' } : enumerateCovers(choices, required);
}

function withAncestors({ required, records }: HistoryIndex): Set<CallRecordV3> {
  const byId = new Map(records.map((record) => [record.model_call_id, record]));
  const all = new Set<CallRecordV3>();
  for (const call of required) {
    let record: CallRecordV3 | undefined = call;
    while (record !== undefined && !all.has(record)) {
      all.add(record);
      record = record.parent_call_id === null ? undefined : byId.get(record.parent_call_id);
    }
  }
  return all;
}

function explainReuse(index: HistoryIndex, choices: readonly (readonly Placed[])[]) {
  const seen = new Map<CallRecordV3, number>();
  for (let at = 0; at < index.items.length; ) {
    const choice = choices[at]?.find(({ record }) => !seen.has(record)) ?? (choices[at]?.[0] as Placed);
    const before = seen.get(choice.record);
    if (before !== undefined) {
      const [first, second] = [index.items[before], index.items[at]];
      const callId = choice.record.model_call_id;
      const message = `${second?.path} and ${first?.path} both match call ${callId}, and no other call is left for either`;
      return reason('call_reused', message, { itemIndex: second?.itemIndex as number, callId });
    }
    seen.set(choice.record, at);
    at = choice.to;
  }
  return reason('call_reused', 'the returned items can only be covered by using a call twice');
}

function explainAmbiguity(index: HistoryIndex, choices: readonly (readonly Placed[])[], covers: Covers) {
  const [left, right] = covers.kind === 'several' ? covers.covers : firstChoices(choices);
  const at = left.findIndex((placed, position) => placed.record !== right[position]?.record);
  const one = left[at] as Placed;
  const other = right[at] as Placed;
  const item = index.items[one.from];
  const names = `${one.record.model_call_id} and ${other.record.model_call_id}`;
  const message = `${item?.path} (${item?.type}) matches two calls, ${names}, and no id or reference settles which`;
  return reason('item_ambiguous', message, { itemIndex: item?.itemIndex as number });
}

/** Where there are too many covers to list: the first item with more than one choice. */
function firstChoices(choices: readonly (readonly Placed[])[]): [Placed[], Placed[]] {
  for (let at = 0; ; ) {
    const [one, other] = choices[at] ?? [];
    if (one === undefined) throw new Error('several covers and no item with two choices');
    if (other !== undefined) return [[one], [other]];
    at = one.to;
  }
}
