/** Rows that were used lately, by their key. This process is the only writer, so they are as they are in the file, until a rollback: then `clear`. */
export class RowCache<Key, Row> {
  readonly #rows = new Map<Key, Row>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: Key): Row | undefined {
    return this.#rows.get(key);
  }

  set(key: Key, row: Row): void {
    if (this.#rows.size >= this.#limit) this.#rows.delete(this.#rows.keys().next().value!);
    this.#rows.set(key, row);
  }

  clear(): void {
    this.#rows.clear();
  }
}
