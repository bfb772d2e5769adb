import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { migrate } from './schema.ts';

/** How long another program's lock on the file (a backup, a curious shell) is waited for. */
const BUSY_TIMEOUT_MS = 5000;
const PAGES_PER_CHECKPOINT = 4000;

/** The open file with its prepared statements. All calls block; they belong on the ledger's own thread. */
export class Database {
  readonly db: DatabaseSync;
  readonly #lock: DatabaseSync | null;
  readonly #statements = new Map<string, StatementSync>();
  readonly #places: readonly Place[];
  /** How often this file was opened before: tells this process's intents from those that an earlier one left. */
  readonly run: number;

  /** Opens, locks and migrates. Throws an Error whose message names the file and says what to do. */
  constructor(path: string) {
    const inMemory = path === ':memory:';
    const file = inMemory ? path : prepareFile(path);
    this.#lock = inMemory ? null : takeLock(file);
    try {
      this.db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
      try {
        this.db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY`);
        this.db.exec(`PRAGMA wal_autocheckpoint = ${PAGES_PER_CHECKPOINT}`);
        migrate(this.db);
        this.run = this.get<{ number: number }>('UPDATE run SET number = number + 1 RETURNING number')!.number;
        this.#places = inMemory ? [] : [file, `${file}-wal`].map((path) => ({ path, id: fileId(path) }));
      } catch (error) {
        this.db.close();
        throw error;
      }
    } catch (error) {
      this.#lock?.close();
      throw new Error(`the ledger file ${file} cannot be used: ${explain(error)}`, { cause: error });
    }
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  /** Returns the number of rows that changed. */
  change(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Throws unless the file and its log stand where they were opened: what is written to a file that was removed is gone with this process. */
  assertInPlace(): void {
    for (const { path, id } of this.#places) if (fileId(path) !== id) throw new OutOfPlace(path);
  }

  /** Throws if nothing can be written: another program holds the lock, the disk is full. Not to be called in a transaction. */
  assertWritable(): void {
    this.change('PRAGMA busy_timeout = 0');
    this.change('PRAGMA synchronous = NORMAL');
    try {
      this.change('BEGIN IMMEDIATE');
      // A row that is written as it is would dirty no page.
      this.change('INSERT INTO doomed VALUES (-1)');
      this.change('DELETE FROM doomed WHERE id = -1');
      this.change('COMMIT');
    } finally {
      if (this.isTransaction) this.change('ROLLBACK');
      this.change('PRAGMA synchronous = FULL');
      this.change(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  get isTransaction(): boolean {
    return this.db.isTransaction;
  }

  get isOpen(): boolean {
    return this.db.isOpen;
  }

  close(): void {
    this.db.close();
    this.#lock?.close();
  }
}

/** A path and the file that stood there when it was opened. */
interface Place {
  readonly path: string;
  readonly id: string | null;
}

class OutOfPlace extends Error {
  constructor(path: string) {
    super(`${path} was removed or replaced while it was in use; put it back, or restart with what is there`);
  }
}

/** Tells files apart, whatever their names; null for none. */
function fileId(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev} ${stats.ino}` : null;
}

function prepareFile(path: string): string {
  const file = resolve(path);
  try {
    mkdirSync(dirname(file), { recursive: true });
    return existsSync(file) ? realpathSync(file) : file;
  } catch (error) {
    throw new Error(`the ledger file ${file} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * One writer per file: an exclusive lock on a file beside it, for as long as this process lives. The operating system releases it, also after kill -9.
 * The ledger file itself stays readable for backups.
 */
function takeLock(file: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(`${file}.lock`, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (sqliteCode(error) === SQLITE_BUSY) {
      throw new Error(
        `the ledger file ${file} is in use by another process; one process owns a SQLite ledger, use Redis for several`,
      );
    }
    throw new Error(`the ledger file ${file} cannot be locked: ${explain(error)}`, { cause: error });
  }
}

const SQLITE_BUSY = 5;

/** Primary result codes that say that the file cannot be used now; any other one is a defect of ours. */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  5: 'another program holds a lock on it',
  6: 'another program holds a lock on it',
  7: 'there is not enough memory',
  8: 'it is read-only',
  10: 'reading or writing it failed',
  11: 'it is damaged; restore it from a backup',
  13: 'the disk is full',
  14: 'it cannot be opened or created',
  15: 'its locks do not work on this file system',
  26: 'it is no SQLite database',
};

/** Primary result code of SQLite, or null for other errors. */
function sqliteCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : null;
}

/** Whether another program holds the lock that writing needs. */
export function isLocked(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY;
}

/** Why the file cannot be used, in words and with SQLite's own message; null for a defect of ours. */
export function whyUnavailable(error: unknown): string | null {
  if (error instanceof OutOfPlace) return error.message;
  const known = UNAVAILABLE[sqliteCode(error) ?? -1];
  return known === undefined ? null : `${known} (${(error as Error).message})`;
}

const explain = (error: unknown) => whyUnavailable(error) ?? (error as Error).message;
