import { IdleTurn } from '../idle-turn.ts';
import { CAN_WAIT_MS } from '../options.ts';
import type { Job } from './transactions.ts';

/** How long a message may wait for more to go with it: each transaction, with its sync and its pages to write, then serves several calls. */
const GATHER_MS = 5;

/**
 * Jobs on their way to the ledger's thread, one message at a time: what comes while the thread has one waits for the next, since the thread could not begin with it any
 * earlier.
 */
export class Outbox {
  readonly #post: (jobs: readonly Job[]) => void;
  #jobs: Job[] = [];
  #isUrgent = false;
  #isBusy = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(post: (jobs: readonly Job[]) => void) {
    this.#post = post;
  }

  add(job: Job, canWait: boolean): void {
    this.#jobs.push(job);
    if (!canWait) this.#isUrgent = true;
    if (!this.#isBusy) this.#plan();
  }

  /** The thread has answered. */
  answered(): void {
    this.#isBusy = false;
    if (this.#jobs.length > 0) this.#plan();
  }

  /** Takes what was not posted; nothing is posted any more. */
  close(): readonly Job[] {
    this.#cancel();
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#isBusy = true;
    return jobs;
  }

  #plan(): void {
    if (this.#isUrgent) this.#idleTurn.await();
    else this.#timer ??= setTimeout(this.#postAll, CAN_WAIT_MS);
  }

  readonly #postAll = (): void => {
    this.#cancel();
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#isUrgent = false;
    this.#isBusy = true;
    this.#post(jobs);
  };

  readonly #idleTurn = new IdleTurn(GATHER_MS, this.#postAll);

  #cancel(): void {
    this.#idleTurn.cancel();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
