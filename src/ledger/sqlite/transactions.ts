import { isLocked, whyUnavailable } from './database.ts';
import { type Durability, OPERATIONS, type OperationName, runOperation, type Store } from './store.ts';

export interface Job {
  readonly id: number;
  readonly name: OperationName;
  readonly args: readonly unknown[];
  /** When it was asked for, seconds since the epoch. */
  readonly nowS: number;
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  /** `unavailable`: the file could not be read or written; otherwise a defect. */
  | { readonly id: number; readonly unavailable: boolean; readonly message: string };

/**
 * Runs what arrived together in one transaction, so that one sync serves all. If anything in it fails, all of it is rolled back and each job runs
 * again in a transaction of its own: one failing job does not fail the others, and nothing is answered that is not on disk. A lock of another program fails all that
 * write: each of them would wait for it as long again. It does not keep anybody from reading.
 */
export function runTogether(store: Store, jobs: readonly Job[]): Answer[] {
  try {
    return inTransaction(store, jobs);
  } catch (error) {
    if (jobs.length === 1) return [failure(jobs[0]!, error)];
    const locked = isLocked(error);
    return jobs.flatMap((job) => (locked && !reads(job) ? [failure(job, error)] : runTogether(store, [job])));
  }
}

const reads = (job: Job) => OPERATIONS[job.name].durability === 'read';

function inTransaction(store: Store, jobs: readonly Job[]): Answer[] {
  const durability = strongest(jobs);
  const run = () => jobs.map((job) => ({ id: job.id, value: runOperation(store, job) }));
  if (durability === 'read') return run();
  const { db } = store;
  db.assertInPlace();
  if (durability === 'lazy') db.change('PRAGMA synchronous = NORMAL');
  try {
    db.change('BEGIN IMMEDIATE');
    const answers = run();
    store.attempts.flush();
    db.change('COMMIT');
    store.handovers.keep();
    return answers;
  } catch (error) {
    // SQLite has rolled back by itself after the graver errors.
    if (db.isTransaction) db.change('ROLLBACK');
    store.forget();
    throw error;
  } finally {
    if (durability === 'lazy') db.change('PRAGMA synchronous = FULL');
  }
}

function strongest(jobs: readonly Job[]): Durability {
  const kinds = new Set(jobs.map((job) => OPERATIONS[job.name].durability));
  if (kinds.has('durable')) return 'durable';
  return kinds.has('lazy') ? 'lazy' : 'read';
}

function failure(job: Job, error: unknown): Answer {
  const reason = whyUnavailable(error);
  const message = reason
    ? `the ledger file cannot be used: ${reason}`
    : `ledger.${job.name}: ${(error as Error).stack}`;
  return { id: job.id, unavailable: reason !== null, message };
}
