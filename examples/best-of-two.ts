/**
 * A fork: the agent lays a plan, asks twice for the next step from the same history, and keeps the better answer. The returned output does not hold the
 * other one, so it is not selected and carries no loss; the plan is trained on once.
 *
 *     node examples/best-of-two.ts --token <control token> [--proxy URL] [--worker URL]
 */
import OpenAI from 'openai';
import type { Response, ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';
import { explainRollout } from '../src/trainer/explain/explain-rollout.ts';
import { closeAndBuild, readSide } from './close-and-build.ts';

export interface BestOfTwoOptions {
  /** Base URL with `/v1`. */
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly model: string;
  readonly task: string;
  /** Which of the two answers is better; the higher one is kept, of equal ones the first. */
  readonly score: (answer: string) => number;
}

export interface AgentResult {
  readonly response: { readonly id: string; readonly output: readonly ResponseOutputItem[] };
  readonly reward: number;
}

export async function runBestOfTwo({ baseURL, apiKey, model, task, score }: BestOfTwoOptions): Promise<AgentResult> {
  const client = new OpenAI({ baseURL, apiKey: apiKey ?? 'unused' });
  const ask = (input: ResponseInputItem[]) => client.responses.create({ model, input, store: false });

  const history: ResponseInputItem[] = [{ role: 'user', content: `${task}\nMake a plan first.` }];
  const plan = await ask(history);
  history.push(...(plan.output as ResponseInputItem[]), { role: 'user', content: 'Now answer.' });
  const [one, other] = await Promise.all([ask(history), ask(history)]);
  const kept: Response = score(other.output_text) > score(one.output_text) ? other : one;
  return { response: { id: kept.id, output: [...plan.output, ...kept.output] }, reward: score(kept.output_text) };
}

if (import.meta.main) {
  const side = readSide('best-of-two');
  const result = await runBestOfTwo({
    baseURL: side.baseURL,
    model: 'policy',
    task: 'Name a prime number above one hundred.',
    score: (answer) => (/\b(101|103|107|109)\b/.test(answer) ? 1 : 0),
  });
  process.stdout.write(`${explainRollout(await closeAndBuild(side, side.attempt, result)).join('\n')}\n`);
}
