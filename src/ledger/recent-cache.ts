/**
 * What was put in lately, by its key: at most `limit`, and at least the latest half of it.
 *
 * Two maps take turns: to take the oldest entry out of one map again and again costs a walk over all that were taken out before.
 */
export class RecentCache<Key, Value> {
  #latest = new Map<Key, Value>();
  #older = new Map<Key, Value>();
  readonly #half: number;

  /** `limit`: at least 2. */
  constructor(limit: number) {
    this.#half = Math.floor(limit / 2);
  }

  get(key: Key): Value | undefined {
    return this.#latest.get(key) ?? this.#older.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#latest.size >= this.#half) {
      this.#older = this.#latest;
      this.#latest = new Map();
    }
    this.#latest.set(key, value);
  }

  clear(): void {
    this.#latest.clear();
    this.#older.clear();
  }
}
