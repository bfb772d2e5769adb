import type { JsonNode } from './json-node.ts';

/**
 * Nodes that are taken over from an earlier text (parse-json.ts, `known`) say the same again, so what was worked out for them need not be worked out again, and is
 * then the same object, from which the next step saves its work in turn. It is kept on the object itself and goes with it: weak maps, whose entries the collector
 * visits one by one, cost more than they save where a history is new. Nothing that is kept may be changed.
 */

/** What can hold what was worked out for it. */
export interface Memorable {
  memo?: MemoEntry | undefined;
}

export interface MemoEntry {
  readonly owner: object;
  /** Whose entry it is: a copy of that object (a spread) has this entry too, and must not be taken for it. */
  readonly object: object;
  withs: readonly unknown[];
  value: unknown;
  next: MemoEntry | undefined;
}

/** The entry of an owner, if it was made with these others. */
export function entryOf(object: Memorable, owner: object, withs: readonly unknown[]): MemoEntry | undefined {
  const entry = find(object, owner);
  return entry !== undefined && areSame(entry.withs, withs) ? entry : undefined;
}

/** Keeps a value in the place of the one that the owner has kept there before. */
export function putEntry(object: Memorable, owner: object, withs: readonly unknown[], value: unknown): void {
  const entry = find(object, owner);
  if (entry === undefined) {
    object.memo = { owner, object, withs, value, next: object.memo };
  } else {
    entry.withs = withs;
    entry.value = value;
  }
}

export function dropEntry(object: Memorable, owner: object): void {
  const entry = find(object, owner);
  if (entry === undefined) return;
  if (object.memo === entry) {
    object.memo = entry.next;
    return;
  }
  let before = object.memo as MemoEntry;
  while (before.next !== entry) before = before.next as MemoEntry;
  before.next = entry.next;
}

function find(object: Memorable, owner: object): MemoEntry | undefined {
  let entry = object.memo;
  while (entry !== undefined && (entry.owner !== owner || entry.object !== object)) entry = entry.next;
  return entry;
}

function areSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** One kind of result, kept for each object, together with the other objects that went into it; the latest where these change. */
export class Memo<V> {
  readonly #isKept: (value: V) => boolean;

  constructor(isKept: (value: V) => boolean = () => true) {
    this.#isKept = isKept;
  }

  /** What was made of this very object with these others, else what `make` says. `withs` is kept: it must not change. */
  of(object: Memorable, withs: readonly unknown[], make: () => V): V {
    const entry = entryOf(object, this, withs);
    return entry === undefined ? this.keep(object, withs, make()) : (entry.value as V);
  }

  /** {@link of} in two steps, for long lists: what is known, if anything. */
  known(object: Memorable, withs: readonly unknown[]): V | undefined {
    return entryOf(object, this, withs)?.value as V | undefined;
  }

  /** Keeps a value and returns it. */
  keep(object: Memorable, withs: readonly unknown[], value: V): V {
    if (this.#isKept(value)) putEntry(object, this, withs, value);
    return value;
  }
}

/** `withs` of what depends on its object alone. */
export const NOTHING_ELSE: readonly unknown[] = [];

/** A function of a node that depends on nothing else, worked out once per node. */
export function memoOf<T extends {}>(work: (node: JsonNode) => T): (node: JsonNode) => T {
  const known = new Memo<T>();
  return (node) => known.of(node, NOTHING_ELSE, () => work(node));
}
