/**
 * Rows that were read or written lately, by their key: at most `limit`, and at least the latest half of it. This process is the only writer, so they are as they are in
 * the file, until a rollback: then `clear`.
 *
 * Two maps take turns: to take the oldest entry out of one map again and again costs a walk over all that were taken out before.
 */
export class RowCache<Key, Row> {
  #rows = new Map<Key, Row>();
  #older = new Map<Key, Row>();
  readonly #half: number;

  /** `limit`: at least 2. */
  constructor(limit: number) {
    this.#half = Math.floor(limit / 2);
  }

  get(key: Key): Row | undefined {
    return this.#rows.get(key) ?? this.#older.get(key);
  }

  set(key: Key, row: Row): void {
    if (this.#rows.size >= this.#half) {
      this.#older = this.#rows;
      this.#rows = new Map();
    }
    this.#rows.set(key, row);
  }

  clear(): void {
    this.#rows.clear();
    this.#older.clear();
  }
}
