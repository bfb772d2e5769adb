import type { Context } from '../context.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';

const TIMEOUT_MS = 5_000;
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
  const refresh = async () => {
    if (Date.now() < freshUntilMs) return;
    for (const worker of ctx.workers.order(null)) {
      const outcome = await ctx.workers.get(worker, '/v1/models', TIMEOUT_MS);
      if (outcome.kind !== 'response' || outcome.status !== 200) continue;
      const node = parseJson(outcome.body);
      if (isJsonProblem(node) || node.get('data')?.isArray() !== true) continue;
      known = node.rawText();
      freshUntilMs = Date.now() + FRESH_MS;
      return;
    }
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
