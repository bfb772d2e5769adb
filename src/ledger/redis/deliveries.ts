import { CAN_WAIT_MS } from '../options.ts';

interface Batch {
  readonly callIds: string[];
  readonly written: Promise<void>;
  readonly settle: (written: Promise<void> | undefined) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Replies that were handed over, on their way to the ledger. Most agents ask for their next call at once, so the news goes with the next admission to the attempt
 * instead of taking a step of its own; it goes by itself where there is none within a moment. Until it has arrived nobody else can claim the reply, since the one who got
 * it is still entered as waiting.
 */
export class Deliveries {
  readonly #write: (attempt: string, callIds: readonly string[]) => Promise<void>;
  readonly #byAttempt = new Map<string, Batch>();

  /** `write` sends it without an admission. */
  constructor(write: (attempt: string, callIds: readonly string[]) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when it is written, rejects as `write` does. */
  add(attempt: string, callId: string): Promise<void> {
    const batch = this.#byAttempt.get(attempt);
    if (batch === undefined) return this.#begin(attempt, callId).written;
    batch.callIds.push(callId);
    return batch.written;
  }

  #begin(attempt: string, callId: string): Batch {
    const callIds = [callId];
    let settle: Batch['settle'] = () => {};
    const written = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const timer = setTimeout(() => {
      this.#byAttempt.delete(attempt);
      settle(this.#write(attempt, callIds));
    }, CAN_WAIT_MS);
    const batch = { callIds, written, settle, timer };
    this.#byAttempt.set(attempt, batch);
    return batch;
  }

  /** Runs an admission to the attempt that takes along what has been handed over; if it fails, that goes by itself. */
  async takeAlong<T>(attempt: string, admit: (callIds: readonly string[]) => Promise<T>): Promise<T> {
    const batch = this.#byAttempt.get(attempt);
    if (batch === undefined) return admit([]);
    clearTimeout(batch.timer);
    this.#byAttempt.delete(attempt);
    try {
      const outcome = await admit(batch.callIds);
      batch.settle(undefined);
      return outcome;
    } catch (error) {
      batch.settle(this.#write(attempt, batch.callIds));
      throw error;
    }
  }
}
