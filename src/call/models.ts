import type { Context } from '../context.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';

/** Longest wait for one worker, and for all of them: agents that probe give up early. */
const ONE_WORKER_MS = 2_000;
const ALL_WORKERS_MS = 5_000;
const FRESH_MS = 5_000;
const EMPTY = '{"object":"list","data":[]}';

/** The upstream's model list (protocol section 2): agents probe it, so it never fails: the last known list where no worker answers, else an empty one. */
export interface ModelList {
  /** JSON text of the list. */
  list(): Promise<string>;
  /** JSON text of one model, or null where the list does not have it. */
  find(id: string): Promise<string | null>;
}

export function buildModelList(ctx: Context): ModelList {
  let known = EMPTY;
  let freshUntilMs = 0;
  let asking: Promise<void> | undefined;
  const ask = async () => {
    const deadlineMs = performance.now() + ALL_WORKERS_MS;
    for (const worker of ctx.workers.order(null)) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return;
      const outcome = await ctx.workers.get(worker, '/v1/models', Math.min(leftMs, ONE_WORKER_MS));
      if (outcome.kind !== 'response' || outcome.status !== 200) continue;
      const node = parseJson(outcome.body);
      if (isJsonProblem(node) || node.get('data')?.isArray() !== true) continue;
      known = node.rawText();
      freshUntilMs = performance.now() + FRESH_MS;
      return;
    }
  };
  /** Agents that ask at the same time wait for one answer. */
  const refresh = async () => {
    if (performance.now() < freshUntilMs) return;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    await asking;
  };
  return {
    async list() {
      await refresh();
      return known;
    },
    async find(id) {
      await refresh();
      const list = parseJson(Buffer.from(known));
      if (isJsonProblem(list)) return null;
      const model = list
        .get('data')
        ?.elements()
        .find((entry) => entry.get('id')?.string() === id);
      return model?.rawText() ?? null;
    },
  };
}
