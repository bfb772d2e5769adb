import { dropEntry, entryOf, type Memorable, NOTHING_ELSE, putEntry } from './memo.ts';

/** How something is worked out over a list, one element after the other. */
export interface Steps<E, S> {
  start(): S;
  /** The state after one more element; `state` may be changed and returned. */
  step(state: S, element: E): S;
  /** A state that can be changed without changing this one. */
  fork(state: S): S;
}

interface Kept<S> {
  /** The list that it was worked out for; its first `count` elements. */
  readonly list: readonly object[];
  readonly count: number;
  readonly state: S;
}

/**
 * What the beginnings of lists come to, so that a list which goes on with an earlier one needs only the steps for what is new. It is kept on the last element of the
 * beginning (memo.ts), and moves on with the list: one beginning of it is kept at a time. The steps depend on the elements alone: what depends on something else,
 * too, has a memo for each of it.
 */
export class PrefixMemo<E extends Memorable, S> {
  readonly #steps: Steps<E, S>;

  constructor(steps: Steps<E, S>) {
    this.#steps = steps;
  }

  /** The state after the first `count` elements of `list`. It must not be changed; fork it. */
  of(list: readonly E[], count: number): S {
    const { start, step, fork } = this.#steps;
    let at = count;
    let known: Kept<S> | undefined;
    while (at > 0 && known === undefined) known = this.#keptAt(list, at--);
    if (known?.count === count) return known.state;
    let state = known === undefined ? start() : fork(known.state);
    for (let next = known?.count ?? 0; next < count; next++) state = step(state, list[next] as E);
    if (known !== undefined) dropEntry(list[known.count - 1] as E, this);
    if (count > 0) putEntry(list[count - 1] as E, this, NOTHING_ELSE, { list, count, state } satisfies Kept<S>);
    return state;
  }

  /** What is kept of the first `count` elements, if they are these very objects. */
  #keptAt(list: readonly E[], count: number): Kept<S> | undefined {
    const kept = entryOf(list[count - 1] as E, this, NOTHING_ELSE)?.value as Kept<S> | undefined;
    if (kept === undefined || kept.count !== count) return undefined;
    for (let at = 0; at < count; at++) if (kept.list[at] !== list[at]) return undefined;
    return kept;
  }

  /** A state of its own: `state` and then the elements of `list` from `from` on. Nothing of it is kept. */
  after(state: S, list: readonly E[], from: number): S {
    let after = this.#steps.fork(state);
    for (let at = from; at < list.length; at++) after = this.#steps.step(after, list[at] as E);
    return after;
  }

  /** {@link of} for all of a list. */
  ofAll(list: readonly E[]): S {
    return this.of(list, list.length);
  }
}
