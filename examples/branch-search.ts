/**
 * A search with two branches: from one opening the agent follows two lines of thought to their ends and hands in the better end. Under `all_captured`
 * both branches are trained on with the same reward, that of the end that was scored; `terminal_response_id` says which one that is.
 *
 *     node examples/branch-search.ts --token <control token> [--proxy URL] [--worker URL]
 */
import OpenAI from 'openai';
import type { Response, ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';
import { explainRollout } from '../src/trainer/explain/explain-rollout.ts';
import { allCaptured } from '../src/trainer/index.ts';
import { closeAndBuild, readSide } from './close-and-build.ts';

export interface BranchSearchOptions {
  /** Base URL with `/v1`. */
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly model: string;
  readonly task: string;
  /** What opens each branch. */
  readonly directions: readonly [string, string];
  /** How many more turns a branch has after its first. */
  readonly depth: number;
  readonly score: (answer: string) => number;
}

export interface SearchResult {
  readonly response: { readonly id: string; readonly output: readonly ResponseOutputItem[] };
  readonly terminal_response_id: string;
  readonly reward: number;
}

export async function runBranchSearch(options: BranchSearchOptions): Promise<SearchResult> {
  const { model, task, directions, depth, score } = options;
  const client = new OpenAI({ baseURL: options.baseURL, apiKey: options.apiKey ?? 'unused' });
  const ask = (input: ResponseInputItem[]) => client.responses.create({ model, input, store: false });

  const opening: ResponseInputItem[] = [{ role: 'user', content: task }];
  const first = await ask(opening);
  const shared = [...opening, ...(first.output as ResponseInputItem[])];

  const follow = async (direction: string): Promise<Response> => {
    const history: ResponseInputItem[] = [...shared, { role: 'user', content: direction }];
    let answer = await ask(history);
    for (let turn = 0; turn < depth; turn++) {
      history.push(...(answer.output as ResponseInputItem[]), { role: 'user', content: 'Go on.' });
      answer = await ask(history);
    }
    return answer;
  };
  const [left, right] = await Promise.all(directions.map(follow));
  if (left === undefined || right === undefined) throw new Error('a branch has no end');
  const best = score(right.output_text) > score(left.output_text) ? right : left;
  return {
    response: { id: best.id, output: best.output },
    terminal_response_id: best.id,
    reward: score(best.output_text),
  };
}

if (import.meta.main) {
  const side = readSide('branch-search');
  const result = await runBranchSearch({
    baseURL: side.baseURL,
    model: 'policy',
    task: 'How many squares are on a chess board?',
    directions: ['Count by size.', 'Use a formula.'],
    depth: 1,
    score: (answer) => (answer.includes('204') ? 1 : 0),
  });
  const outcome = await closeAndBuild(side, side.attempt, result, allCaptured);
  process.stdout.write(`${explainRollout(outcome).join('\n')}\n`);
}
