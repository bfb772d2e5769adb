import type { AgentTool, CompactionAgentOptions } from '../../examples/compaction-agent.ts';
import type { ReferenceWorkerOptions } from '../reference-worker/options.ts';

/**
 * The worked example of protocol section 12 as a story: five calls of an agent that looks things up, compacts its history after two turns, rejects an answer and
 * asks again. The model is scripted; the vocabulary gives its few texts the token ids of the example.
 */

export const ATTEMPT = 'group_g0';
export const MODEL = 'policy';
const TASK = 'Find out in which year the lighthouse was built.';
const INDEX = 'index: page 7 is about the lighthouse';
const PAGE = 'page 7: the plaque at its foot says more';
const PLAQUE = 'plaque: built in 1884';
const COMPACTED = `You are looking for the year in which the lighthouse was built. Found so far: ${PAGE}`;

const READINGS: Readonly<Record<string, string>> = { index: INDEX, 'page 7': PAGE, plaque: PLAQUE };

const readTool: AgentTool = {
  name: 'read',
  description: 'Reads a source and gives back its text.',
  parameters: { type: 'object', properties: { source: { type: 'string' } }, required: ['source'] },
  run: (argumentsJson) =>
    READINGS[(JSON.parse(argumentsJson) as { source: string }).source] ?? 'there is no such source',
};

export const WORKER: ReferenceWorkerOptions = {
  models: [MODEL],
  template: 'none',
  weightVersion: 7,
  vocabulary: { [TASK]: [10, 11], [INDEX]: [20, 21], [COMPACTED]: [30, 31], [PLAQUE]: [40, 41] },
  script: {
    answers: [
      { reasoning: 'The index will tell.', tool_calls: [read('index')], token_ids: [1001] },
      { reasoning: 'Page 7, then.', tool_calls: [read('page 7')], token_ids: [1002] },
      { reasoning: 'The plaque is left.', tool_calls: [read('plaque')], token_ids: [1003] },
      { reasoning: 'Hard to say.', content: 'I do not know.', token_ids: [1004] },
      { reasoning: 'The plaque says it.', content: 'It was built in 1884.', token_ids: [1005] },
    ],
  },
};

function read(source: string) {
  return { name: 'read', arguments: { source } };
}

export const AGENT: Omit<CompactionAgentOptions, 'baseURL' | 'apiKey'> = {
  model: MODEL,
  task: TASK,
  tools: [readTool],
  keepTurns: 2,
  compact: (observation) =>
    `You are looking for the year in which the lighthouse was built. Found so far: ${observation}`,
  accept: (response) => !response.output_text.includes('do not know'),
  score: (answer) => (answer.includes('1884') ? 1 : 0),
};

/** The prompt group: this rollout, and a sibling of which only the reward, 0, is known. */
export const GROUP = { group: 'group', rollouts: [{ slot: 1, reward: 0 }] };
