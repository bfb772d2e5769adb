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
  readonly next: MemoEntry | undefined;
}

/** One kind of result, kept for each object, together with the other objects that went into it; the latest where these change. */
export class Memo<V> {
  readonly #isKept: (value: V) => boolean;

  constructor(isKept: (value: V) => boolean = () => true) {
    this.#isKept = isKept;
  }

  /** What was made of this very object with these others, else what `make` says. `withs` is kept: it must not change. */
  of(object: Memorable, withs: readonly unknown[], make: () => V): V {
    let entry = object.memo;
    while (entry !== undefined && (entry.owner !== this || entry.object !== object)) entry = entry.next;
    if (entry !== undefined && areSame(entry.withs, withs)) return entry.value as V;
    const value = make();
    if (!this.#isKept(value)) return value;
    if (entry === undefined) object.memo = { owner: this, object, withs, value, next: object.memo };
    else {
      entry.withs = withs;
      entry.value = value;
    }
    return value;
  }
}

function areSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}

/** `withs` of what depends on its object alone. */
export const NOTHING_ELSE: readonly unknown[] = [];

/** A function of a node that depends on nothing else, worked out once per node. */
export function memoOf<T extends {}>(work: (node: JsonNode) => T): (node: JsonNode) => T {
  const known = new Memo<T>();
  return (node) => known.of(node, NOTHING_ELSE, () => work(node));
}
