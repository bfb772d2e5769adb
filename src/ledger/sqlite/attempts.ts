import type { Database } from './database.ts';

export const OPEN = 0;
export const CLOSED = 1;
export const RETIRED = 2;
export const STATE_NAMES = ['open', 'closed', 'retired'] as const;

/** Keys of records: `attempt * RECORDS_PER_ATTEMPT + number`. */
export const RECORDS_PER_ATTEMPT = 2 ** 20;

export interface Attempt {
  readonly id: number;
  readonly name: string;
  state: number;
  /** The state that the file has. It seldom changes, and an index hangs on it. */
  writtenState: number;
  /** Counters. `unsettled`: pending without a failure row. `chunks`: the last chunk number given away. */
  intents: number;
  records: number;
  pending: number;
  unsettled: number;
  failures: number;
  refused: number;
  chunks: number;
  last_activity_s: number;
}

const MAX_CACHED = 10_000;
const COLUMNS = 'id, name, state, intents, records, pending, unsettled, failures, refused, chunks, last_activity_s';

/**
 * The attempts' own rows. This process is the only writer, so rows are kept in memory and changed ones written once per transaction (`flush`).
 * After a rollback everything is forgotten and read again.
 */
export class Attempts {
  readonly #db: Database;
  readonly #cache = new Map<string, Attempt>();
  readonly #changed = new Set<Attempt>();

  constructor(db: Database) {
    this.#db = db;
  }

  find(name: string): Attempt | undefined {
    const cached = this.#cache.get(name);
    if (cached) return cached;
    const row = this.#db.get<Omit<Attempt, 'writtenState'>>(`SELECT ${COLUMNS} FROM attempt WHERE name = ?`, name);
    if (!row) return undefined;
    const attempt = { ...row, writtenState: row.state };
    this.#remember(attempt);
    return attempt;
  }

  create(name: string, state: number, nowS: number): Attempt {
    const { id } = this.#db.get<{ id: number }>(
      'INSERT INTO attempt (name, state, intents, records, pending, unsettled, failures, refused, chunks, last_activity_s) VALUES (?, ?, 0, 0, 0, 0, 0, 0, 0, ?) RETURNING id',
      name,
      state,
      nowS,
    )!;
    const counters = { intents: 0, records: 0, pending: 0, unsettled: 0, failures: 0, refused: 0, chunks: 0 };
    const attempt = { id, name, state, writtenState: state, ...counters, last_activity_s: nowS };
    this.#remember(attempt);
    return attempt;
  }

  /** To be called after changing a row. */
  changed(attempt: Attempt): void {
    this.#changed.add(attempt);
  }

  /** Takes the name from its rows, which are cleared later. */
  detach(attempt: Attempt): void {
    this.#cache.delete(attempt.name);
    this.#changed.delete(attempt);
    this.#db.change('DELETE FROM attempt WHERE id = ?', attempt.id);
    this.#db.change('INSERT INTO doomed VALUES (?)', attempt.id);
  }

  flush(): void {
    for (const attempt of this.#changed) {
      if (attempt.state !== attempt.writtenState) {
        this.#db.change('UPDATE attempt SET state = ? WHERE id = ?', attempt.state, attempt.id);
        attempt.writtenState = attempt.state;
      }
      this.#db.change(
        'UPDATE attempt SET intents = ?, records = ?, pending = ?, unsettled = ?, failures = ?, refused = ?, chunks = ?, last_activity_s = ? WHERE id = ?',
        attempt.intents,
        attempt.records,
        attempt.pending,
        attempt.unsettled,
        attempt.failures,
        attempt.refused,
        attempt.chunks,
        attempt.last_activity_s,
        attempt.id,
      );
    }
    this.#changed.clear();
  }

  forget(): void {
    this.#cache.clear();
    this.#changed.clear();
  }

  #remember(attempt: Attempt): void {
    if (this.#cache.size >= MAX_CACHED) {
      const oldest = this.#cache.values().next().value!;
      // A changed row that left the cache would be read stale; it stays until it is written.
      if (!this.#changed.has(oldest)) this.#cache.delete(oldest.name);
    }
    this.#cache.set(attempt.name, attempt);
  }
}
