import type { Job } from './transactions.ts';

/** Nobody waits for the jobs that can wait: they go with the next message, or after a moment. */
const CAN_WAIT_MS = 50;
/**
 * How long a message may wait for more to go with it while this process has other work: each transaction, with its sync and its pages to write, then serves several
 * calls. Without other work it goes at once.
 */
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
  /** Set while the jobs wait for the end of a turn of the event loop, until when at the latest, and the events that it had seen when it was last looked at. */
  #immediate: NodeJS.Immediate | undefined;
  #postAtMs = 0;
  #eventsBefore = 0;
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
    if (this.#isUrgent) {
      if (this.#immediate !== undefined) return;
      this.#postAtMs = performance.now() + GATHER_MS;
      // No number of events: there is at least one more turn, which may bring more jobs.
      this.#eventsBefore = -1;
      this.#immediate = setImmediate(this.#endOfTurn);
    } else {
      this.#timer ??= setTimeout(this.#postAll, CAN_WAIT_MS);
    }
  }

  /** After a turn that had nothing to do, or when the time is up, the message goes. */
  readonly #endOfTurn = (): void => {
    const { events } = performance.nodeTiming.uvMetricsInfo;
    if (events === this.#eventsBefore || performance.now() >= this.#postAtMs) {
      this.#postAll();
    } else {
      this.#eventsBefore = events;
      this.#immediate = setImmediate(this.#endOfTurn);
    }
  };

  readonly #postAll = (): void => {
    this.#cancel();
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#isUrgent = false;
    this.#isBusy = true;
    this.#post(jobs);
  };

  #cancel(): void {
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
    this.#immediate = undefined;
    this.#timer = undefined;
  }
}
