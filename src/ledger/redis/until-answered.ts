import { LedgerUnavailable } from '../ledger.ts';

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

export interface Asking {
  /** For messages. */
  readonly what: string;
  readonly timeoutMs: number;
  /** Why the connection is down, if it is. */
  readonly lastError: () => Error | null;
  /** The client was closed on purpose: nothing will answer any more. */
  readonly isStopped: () => boolean;
}

/**
 * Sends until there is an answer, for at most `timeoutMs`; what is sent must have the same outcome when it runs again. Throws LedgerUnavailable if there
 * is none or if the server cannot write, an Error for any other answer that is an error: a defect.
 */
export async function untilAnswered<T>(asking: Asking, send: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + asking.timeoutMs;
  let reason: Error | null = null;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const leftMs = deadlineMs - performance.now();
    if (asking.isStopped()) throw new LedgerUnavailable('the ledger has been stopped');
    if (leftMs <= 0) throw unavailable(asking, reason ?? asking.lastError());
    try {
      return await within(leftMs, send());
    } catch (error) {
      if (error instanceof TimeUp) throw unavailable(asking, reason ?? asking.lastError());
      const failure = error as Error;
      switch (kindOfFailure(failure)) {
        case 'again':
          // "Not connected" says less than the reason why.
          reason = isAnswer(failure) ? failure : null;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
          break;
        case 'unavailable':
          throw unavailable(asking, failure);
        case 'defect':
          throw new Error(`${asking.what} failed on Redis: ${failure.message}`, { cause: failure });
      }
    }
  }
}

function unavailable({ what, timeoutMs }: Asking, cause: Error | null): LedgerUnavailable {
  const reason = cause?.message || 'no answer';
  return new LedgerUnavailable(`Redis could not run ${what} within ${timeoutMs} ms: ${reason}`, { cause });
}

class TimeUp extends Error {}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeUp()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Answers that pass: during start, failover or resharding, or while another script runs. */
const PASSING = /\b(LOADING|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|READONLY|NOREPLICAS|BUSY|MOVED|ASK|UNKILLABLE)\b/;
/** Answers that need somebody to do something about the server. */
const LASTING = /\b(OOM|MISCONF|NOAUTH|WRONGPASS|NOPERM|DENIED)\b/;

/** Errors that Redis answered, as opposed to those of the connection. */
const isAnswer = (error: Error) => error.name === 'ReplyError';

function kindOfFailure(error: Error): 'again' | 'unavailable' | 'defect' {
  if (PASSING.test(error.message) || !isAnswer(error)) return 'again';
  return LASTING.test(error.message) ? 'unavailable' : 'defect';
}
