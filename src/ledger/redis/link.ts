import { LedgerUnavailable } from '../ledger.ts';
import { type Client, createClient, type RedisUrl } from './client.ts';
import { OneWrite } from './one-write.ts';

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

/**
 * One client and what is known of its connection. `ask` sends until there is an answer: a command whose answer was lost is simply sent again, so whatever goes
 * through here must have the same outcome when it runs again.
 */
export class Link {
  readonly client: Client;
  readonly #oneWrite: OneWrite;
  readonly #timeoutMs: number;
  #lastError: Error | null = null;
  #isStopped = false;
  readonly #pausing = new Set<() => void>();

  /** `silenceMs`: see client.ts. */
  constructor(url: RedisUrl, timeoutMs: number, silenceMs?: number | null) {
    this.client = createClient(url, silenceMs);
    this.#oneWrite = new OneWrite(this.client);
    this.#timeoutMs = timeoutMs;
    this.client.on('error', (error: Error) => {
      this.#lastError = error;
    });
    this.client.on('ready', () => {
      for (const goOn of this.#pausing) goOn();
    });
  }

  /** Why the connection is down, if it is. */
  get lastError(): Error | null {
    return this.#lastError;
  }

  connect(): void {
    // What goes wrong here is met again, and told, by the first one who asks.
    this.client.connect().catch((error: Error) => {
      this.#lastError = error;
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.client.disconnect();
  }

  /**
   * Sends until there is an answer, for at most the time that one operation may last (and `moreMs`). Throws LedgerUnavailable if there is none or if the server
   * cannot write, an Error for any other answer that is an error: a defect.
   */
  async ask<T>(what: string, send: () => Promise<T>, moreMs = 0): Promise<T> {
    const timeoutMs = this.#timeoutMs + moreMs;
    const deadlineMs = performance.now() + timeoutMs;
    let mayHappen = false;
    const unavailable = (cause: Error | null) =>
      new LedgerUnavailable(`Redis could not run ${what} within ${timeoutMs} ms: ${cause?.message || 'no answer'}`, {
        cause,
        mayHappen,
      });
    let reason: Error | null = null;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const leftMs = deadlineMs - performance.now();
      if (this.#isStopped) throw new LedgerUnavailable('the ledger has been stopped', { mayHappen });
      if (leftMs <= 0) throw unavailable(reason ?? this.#lastError);
      try {
        // Otherwise the client refuses it: it keeps no queue.
        if (this.client.status === 'ready') mayHappen = true;
        this.#oneWrite.hold();
        return await within(leftMs, send());
      } catch (error) {
        if (error instanceof TimeUp) throw unavailable(reason ?? this.#lastError);
        const failure = error as Error;
        switch (kindOfFailure(failure)) {
          case 'again':
            // "Not connected" says less than the reason why.
            reason = isAnswer(failure) ? failure : null;
            await this.#pause(Math.min(pauseMs, leftMs));
            break;
          case 'unavailable':
            throw unavailable(failure);
          case 'defect':
            throw new Error(`${what} failed on Redis: ${failure.message}`, { cause: failure });
        }
      }
    }
  }

  /** Ends early when there is a connection again. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        clearTimeout(timer);
        this.#pausing.delete(goOn);
        resolve();
      };
      const timer = setTimeout(goOn, ms);
      this.#pausing.add(goOn);
    });
  }
}

class TimeUp extends Error {}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeUp()), ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** Answers that pass: during start, failover or resharding, or while another script runs. */
const PASSING = /\b(LOADING|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|READONLY|NOREPLICAS|BUSY|MOVED|ASK|UNKILLABLE)\b/;
/** Answers that need somebody to do something about the server. */
const LASTING = /\b(OOM|MISCONF|NOAUTH|WRONGPASS|NOPERM|DENIED)\b/;

/** Errors that Redis answered, as opposed to those of the connection. */
const isAnswer = (error: Error) => error.name === 'ReplyError';

/** What an error says: ask again, somebody has to do something, or a defect. */
export function kindOfFailure(error: Error): 'again' | 'unavailable' | 'defect' {
  if (PASSING.test(error.message) || !isAnswer(error)) return 'again';
  return LASTING.test(error.message) ? 'unavailable' : 'defect';
}
