import type { Chunk } from '../ancestry.ts';
import { KeptReplies } from '../kept-replies.ts';
import { RecentCache } from '../recent-cache.ts';
import { admit } from './admit.ts';
import { Attempts } from './attempts.ts';
import type { CallRow } from './calls.ts';
import { Database } from './database.ts';
import { Handovers } from './handovers.ts';
import * as read from './read.ts';
import type { RecordRow } from './records.ts';
import { clearDoomed, deleteAttempts, retire, sweep } from './removal.ts';
import { accountForReplies, clientGone, delivered, replyOf, restoreHandovers } from './replies.ts';
import { propose } from './search.ts';
import { addFailure, close, commit, settleRefused } from './settle.ts';

const ROWS_CACHED = 1000;

/** What the operations work on. */
export class Store {
  readonly db: Database;
  readonly attempts: Attempts;
  /** This process is the only writer, so rows are as they are in the file, until a rollback. */
  /** By call id alone: ids are random. */
  readonly calls = new RecentCache<string, CallRow>(ROWS_CACHED);
  readonly records = new RecentCache<number, RecordRow>(ROWS_CACHED);
  readonly chunks = new RecentCache<number, Chunk>(ROWS_CACHED);
  readonly handovers = new Handovers();
  readonly kept: KeptReplies<number>;
  readonly keepS: number;
  /** Seconds since the epoch; the other side of the thread sends it along. */
  nowS = 0;
  /** Whether the intents of earlier runs have been settled. */
  orphansSettled = false;
  /** What the check of the whole file said, once it was made. */
  integrity: { readonly ok: boolean; readonly detail: string } | null = null;
  /** The last attempt that the search for abandoned ones has looked at. */
  abandonedCursor = 0;

  constructor(path: string, replies: { readonly keepBytes: number; readonly keepS: number }) {
    this.db = new Database(path);
    this.attempts = new Attempts(this.db);
    this.keepS = replies.keepS;
    this.kept = new KeptReplies(replies, () => this.nowS);
    accountForReplies(this);
    restoreHandovers(this);
  }

  /** Forgets what memory holds of the file, after a rollback. */
  forget(): void {
    this.attempts.forget();
    this.calls.clear();
    this.records.clear();
    this.chunks.clear();
    this.handovers.rollBack();
    this.kept.clear();
    accountForReplies(this);
    this.orphansSettled = false;
  }
}

/** How an operation touches the file: `durable` ones are answered after a sync, `lazy` ones are written with the next sync, `read` ones write nothing. */
export type Durability = 'durable' | 'lazy' | 'read';

type Operation = (store: Store, ...args: never[]) => unknown;
const operation = <F extends Operation>(durability: Durability, run: F) => ({ durability, run });

export const OPERATIONS = {
  admit: operation('durable', admit),
  commit: operation('durable', commit),
  settleRefused: operation('durable', settleRefused),
  addFailure: operation('durable', addFailure),
  close: operation('durable', close),
  retire: operation('durable', retire),
  delete: operation('durable', deleteAttempts),
  sweep: operation('durable', sweep),
  clientGone: operation('lazy', clientGone),
  delivered: operation('lazy', delivered),
  clearDoomed: operation('lazy', clearDoomed),
  propose: operation('read', propose),
  replyOf: operation('read', replyOf),
  unsettled: operation('read', read.unsettled),
  snapshot: operation('read', read.snapshot),
  records: operation('read', read.records),
  sketches: operation('read', read.sketches),
  attempts: operation('read', read.attempts),
  gauges: operation('read', read.gauges),
  ready: operation('read', read.ready),
  check: operation('read', read.check),
};

export type OperationName = keyof typeof OPERATIONS;
export type ArgumentsOf<Name extends OperationName> = (typeof OPERATIONS)[Name]['run'] extends (
  store: Store,
  ...args: infer Args
) => unknown
  ? Args
  : never;
export type ResultOf<Name extends OperationName> = ReturnType<(typeof OPERATIONS)[Name]['run']>;

/** Runs one operation. Arguments come from {@link ArgumentsOf} on the other side of the thread. */
export function runOperation(
  store: Store,
  job: { name: OperationName; args: readonly unknown[]; nowS: number },
): unknown {
  const run = OPERATIONS[job.name].run as (store: Store, ...args: readonly unknown[]) => unknown;
  store.nowS = job.nowS;
  return run(store, ...job.args);
}
