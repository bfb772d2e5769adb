import type { ServiceError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { EngineAnswer } from '../protocol/conversation.ts';

/** What a captured call came to: what its own agent gets, and whoever joins it. */
export type CallResult = AnsweredCall | FailedCall;

export interface AnsweredCall {
  readonly kind: 'answered';
  readonly answer: EngineAnswer;
}

export interface FailedCall {
  readonly kind: 'failed';
  readonly error: ServiceError;
}

/**
 * The calls that this process is working on. A re-send that joins one waits here; a process that is told to stop waits until it is empty.
 * A call stays in it until nothing of it is left to do: also while it listens for a late answer that nobody waits for.
 */
export interface RunningCalls {
  /** Requests that agents wait for: what `limits.concurrent_calls` bounds. */
  readonly waitedFor: () => number;
  /** A request, from its arrival to its reply. */
  addRequest<T>(work: Promise<T>): Promise<T>;
  /** Anything else that must be finished before the process ends: calls themselves, late ones too, and their bookkeeping. */
  add<T>(work: Promise<T>): Promise<T>;
  publish(callId: string, result: Promise<CallResult>): void;
  find(callId: string): Promise<CallResult> | undefined;
  /** Resolves when no call is left, or when the time is up (false). */
  idle(waitMs: number): Promise<boolean>;
}

export function buildRunningCalls(metrics: Pick<Metrics, 'inFlight'>): RunningCalls {
  const works = new Set<Promise<unknown>>();
  const results = new Map<string, Promise<CallResult>>();
  let requests = 0;
  const add = <T>(work: Promise<T>): Promise<T> => {
    works.add(work);
    const remove = () => works.delete(work);
    work.then(remove, remove);
    return work;
  };
  return {
    waitedFor: () => requests,
    addRequest(work) {
      metrics.inFlight.set(++requests);
      const leave = () => metrics.inFlight.set(--requests);
      work.then(leave, leave);
      return add(work);
    },
    add,
    publish(callId, result) {
      results.set(callId, result);
      const remove = () => results.delete(callId);
      result.then(remove, remove);
    },
    find: (callId) => results.get(callId),
    async idle(waitMs) {
      const deadline = performance.now() + waitMs;
      while (works.size > 0) {
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) return false;
        let timer: NodeJS.Timeout | undefined;
        await Promise.race([
          Promise.allSettled([...works]),
          new Promise((resolve) => {
            timer = setTimeout(resolve, leftMs);
          }),
        ]);
        clearTimeout(timer);
      }
      return true;
    },
  };
}
