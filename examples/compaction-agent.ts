import OpenAI from 'openai';
import type { Response, ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';

/**
 * A small tool-using agent with compaction. It talks through the published `openai` client and knows nothing of calls, parents or tokens: it is what any agent
 * is to this service. It keeps the history that it accepted, replaces it by its newest observation when it has grown (a recency policy), rejects an
 * answer that does not pass its check and asks again, and returns ordinary output with a reward.
 */

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>;
  /** Runs the tool; gives what the model gets to see. */
  run(argumentsJson: string): string;
}

export interface CompactionAgentOptions {
  /** Base URL with `/v1`. */
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly model: string;
  readonly task: string;
  readonly tools: readonly AgentTool[];
  /** After so many turns the history becomes the newest observation. */
  readonly keepTurns: number;
  /** Text that stands for a compacted history. */
  readonly compact: (observation: string) => string;
  /** Whether an answer is good enough to keep. */
  readonly accept: (response: Response) => boolean;
  /** Reward of the final text. */
  readonly score: (answer: string) => number;
  readonly maxCalls?: number;
}

/** What the harness gets back: shapes of protocol section 11. */
export interface AgentResult {
  readonly response: { readonly id: string; readonly output: ResponseOutputItem[] };
  readonly reward: number;
}

export async function runCompactionAgent(options: CompactionAgentOptions): Promise<AgentResult> {
  const client = new OpenAI({ baseURL: options.baseURL, apiKey: options.apiKey ?? 'unused', maxRetries: 2 });
  const accepted: ResponseOutputItem[] = [];
  let history: ResponseInputItem[] = [{ role: 'user', content: options.task }];
  let turns = 0;
  for (let calls = 0; calls < (options.maxCalls ?? 20); calls++) {
    const response = await client.responses.create({
      model: options.model,
      input: history,
      tools: options.tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        parameters,
        strict: false,
      })),
      store: false,
    });
    // Asking again sends the same request: a deliberate second sample.
    if (!options.accept(response)) continue;
    turns++;
    accepted.push(...response.output);
    const observations = runTools(options.tools, response.output);
    if (observations.length === 0) {
      return { response: { id: response.id, output: accepted }, reward: options.score(response.output_text) };
    }
    history.push(...(response.output as ResponseInputItem[]), ...observations);
    if (turns >= options.keepTurns) {
      history = [{ role: 'user', content: options.compact(observations.map(({ output }) => output).join('\n')) }];
      turns = 0;
    }
  }
  throw new Error('the agent did not come to an end');
}

function runTools(tools: readonly AgentTool[], output: readonly ResponseOutputItem[]) {
  return output.flatMap((item) => {
    if (item.type !== 'function_call') return [];
    const tool = tools.find(({ name }) => name === item.name);
    const text = tool === undefined ? `there is no tool ${item.name}` : tool.run(item.arguments);
    return [{ type: 'function_call_output' as const, call_id: item.call_id, output: text }];
  });
}
