import type { CallRecordV3 } from '../../protocol/wire/ledger.ts';
import type { Placed } from './calls-at.ts';

/** How many covers there are; of several, the first two. `too_many`: the search was given up. */
export type Covers =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly cover: readonly Placed[] }
  | { readonly kind: 'several'; readonly covers: readonly [readonly Placed[], readonly Placed[]] }
  | { readonly kind: 'too_many' };

/** More steps than any history needs that is not made of equal items. */
const MAX_STEPS = 200_000;

/**
 * Looks for covers of all items by calls that are each used once, and that hold all of `required`. Stops at the second. `choices`: per item, the
 * calls that may begin there and lead to the end (every chain of choices reaches the end; only the use of a call twice can fail).
 */
export function enumerateCovers(choices: readonly (readonly Placed[])[], required: ReadonlySet<CallRecordV3>): Covers {
  const lastStart = lastStarts(choices, required);
  const found: Placed[][] = [];
  const path: Placed[] = [];
  const used = new Set<CallRecordV3>();
  /** For each depth, the choices at its item and which comes next. */
  const levels: { readonly at: number; readonly list: readonly Placed[]; next: number }[] = [];
  const enter = (at: number) => levels.push({ at, list: ordered(choices[at] as readonly Placed[], required), next: 0 });

  if (choices.length === 0) return required.size === 0 ? { kind: 'one', cover: [] } : { kind: 'none' };
  enter(0);
  for (let steps = 0; levels.length > 0; steps++) {
    if (steps > MAX_STEPS) return { kind: 'too_many' };
    const level = levels[levels.length - 1] as (typeof levels)[number];
    const choice = level.list[level.next++];
    if (choice === undefined || isHopeless(level.at, used, lastStart)) {
      levels.pop();
      const left = path.pop();
      if (left !== undefined) used.delete(left.record);
      continue;
    }
    if (used.has(choice.record)) continue;
    path.push(choice);
    used.add(choice.record);
    if (choice.to < choices.length) {
      enter(choice.to);
      continue;
    }
    if ([...required].every((record) => used.has(record))) found.push([...path]);
    path.pop();
    used.delete(choice.record);
    const [one, other] = found;
    if (one !== undefined && other !== undefined) return { kind: 'several', covers: [one, other] };
  }
  const [only] = found;
  return only === undefined ? { kind: 'none' } : { kind: 'one', cover: only };
}

/** Required calls first: the covers that hold them are found early. */
function ordered(list: readonly Placed[], required: ReadonlySet<CallRecordV3>): readonly Placed[] {
  if (list.length < 2 || required.size === 0) return list;
  return [...list].sort((a, b) => Number(required.has(b.record)) - Number(required.has(a.record)));
}

function lastStarts(
  choices: readonly (readonly Placed[])[],
  required: ReadonlySet<CallRecordV3>,
): Map<CallRecordV3, number> {
  const last = new Map<CallRecordV3, number>();
  for (const [at, list] of choices.entries()) {
    for (const { record } of list) if (required.has(record)) last.set(record, at);
  }
  return last;
}

/** A required call that can no longer stand anywhere. */
function isHopeless(
  at: number,
  used: ReadonlySet<CallRecordV3>,
  lastStart: ReadonlyMap<CallRecordV3, number>,
): boolean {
  if (lastStart.size === 0) return false;
  for (const [record, last] of lastStart) if (last < at && !used.has(record)) return true;
  return false;
}
