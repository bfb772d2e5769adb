import type { Context } from '../context.ts';
import { type ErrorCode, serviceError } from '../errors.ts';
import type { WorkerOutcome } from './call-worker.ts';
import type { CallFailure } from './hand-over.ts';
import { contextRefusal, engineErrorToAgent, isContextRefusal, readEngineError } from './worker-errors.ts';

/** What an uncaptured request that got no answer of status 200 is answered with; null for one that did. `deadline`: aborted once its time is up. */
export function failureOf(ctx: Context, outcome: WorkerOutcome, deadline: AbortSignal): CallFailure {
  if (outcome.kind !== 'response' && deadline.aborted) return outOfTime(ctx);
  switch (outcome.kind) {
    case 'unreachable':
      return failed('worker_unreachable', 'No inference worker can be reached. Try again shortly.');
    case 'lost':
      return failed('worker_failed', 'The connection to the inference worker was lost.');
    case 'response': {
      if (outcome.status === 200) return null;
      const error = readEngineError(outcome.status, outcome.headers, outcome.body);
      if (isContextRefusal(error)) return { error: contextRefusal(error), refusedBeforeInference: false };
      if (error.status === 401 || error.status === 403)
        ctx.events.workerRefusedCredentials(outcome.worker.url, error.status);
      return { error: engineErrorToAgent(error), refusedBeforeInference: false };
    }
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

/** The 504 of an uncaptured request. */
export function outOfTime(ctx: Context): NonNullable<CallFailure> {
  return failed('deadline_exceeded', `The call did not finish within ${ctx.config.deadlines.call_s} s.`);
}

export function failed(code: ErrorCode, message: string): NonNullable<CallFailure> {
  return { error: serviceError(code, message), refusedBeforeInference: false };
}
