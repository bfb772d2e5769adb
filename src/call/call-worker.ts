import type { Context } from '../context.ts';
import type { SendOutcome } from '../worker/send.ts';
import type { Worker } from '../worker/worker-pool.ts';

export const CHAT_PATH = '/v1/chat/completions';

/** How a captured call ended at the workers. `unreachable`: no byte left to any of them. */
export type WorkerOutcome = SendOutcome & { readonly worker: Worker };

/**
 * Sends a captured call at most once (design, "Never twice"): a worker that cannot even be connected to is passed over for the next one; after a byte may have
 * left, whatever happens is the outcome.
 */
export async function callWorkerOnce(ctx: Context, attempt: string, body: Buffer): Promise<WorkerOutcome> {
  let last: WorkerOutcome | undefined;
  for (const worker of ctx.workers.order(attempt)) {
    last = { ...(await ctx.workers.post(worker, CHAT_PATH, body)), worker };
    if (last.kind !== 'unreachable') return last;
  }
  return last as WorkerOutcome;
}

const PLAIN_RETRIES = 2;
/** Statuses after which an uncaptured request is tried again. */
export const RETRIED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Sends an uncaptured request: retried twice on a lost connection or 502, 503, 504, on the next worker where there is one (C160). Nothing is recorded, so a repeat
 * costs only time.
 */
export async function callWorkerRetrying(
  ctx: Context,
  affinity: string | null,
  path: string,
  body: Buffer,
  signal: AbortSignal,
): Promise<WorkerOutcome> {
  const order = ctx.workers.order(affinity);
  for (let attempt = 0; ; attempt++) {
    const worker = order[attempt % order.length] as Worker;
    const outcome = { ...(await ctx.workers.post(worker, path, body, signal)), worker };
    const again = outcome.kind !== 'response' || RETRIED_STATUSES.has(outcome.status);
    if (!again || attempt >= PLAIN_RETRIES || signal.aborted) return outcome;
  }
}
