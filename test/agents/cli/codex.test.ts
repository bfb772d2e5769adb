import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { replayRequests } from '../../../src/lineage/replay-requests.ts';
import type { JsonNode } from '../../../src/protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../../../src/protocol/json/parse-json.ts';
import type { RootExpectation } from '../harness/expectation.ts';
import { until } from '../harness/interrupt.ts';
import { runScenario } from '../harness/scenario.ts';
import { codex } from './agents.ts';
import { COMMENTS, lostConnectionTests } from './lost-connection.ts';
import { oddTurnCalls } from './odd-turns.ts';
import { FIRST_ANSWER, FOLLOW_UP, LAST_ANSWER, type ShellTool, shell, TASK, taskCalls, usage } from './task.ts';

const TOOL: ShellTool = { name: 'exec_command', command: 'cmd', extra: '"yield_time_ms": 10000' };
const SUMMARY = 'The summary of what was done.';
/** The words of Codex's own prompt for a summary. */
const COMPACTION = 'CONTEXT CHECKPOINT COMPACTION';

/** The history is the prompts and the summary. The request for the summary has no record under schema 2, so the nearest call there is the one before it. */
function restarted(before: string): RootExpectation {
  const differs = { cause: 'history_differs', detail: { part: 'missing', role: 'assistant' } };
  return { ...differs, nearest: 'summary', beginsAnew: true, schema2: { ...differs, nearest: before } };
}

function jsonOf(text: string): JsonNode {
  const node = parseJson(Buffer.from(text));
  if (isJsonProblem(node)) throw new Error(node.problem);
  return node;
}

describe('Codex CLI', { concurrency: 2 }, () => {
  test('task', async () => {
    const agent = await codex();
    const { exchanges } = await runScenario({
      ...agent,
      run: 'task',
      calls: taskCalls(TOOL),
      drive: async (world) => {
        await agent.setUp(world);
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
        assert.equal((await agent.run(world, FOLLOW_UP, { resume: true })).stdout, `${LAST_ANSWER}\n`);
      },
    });

    // The same requests, without their replies, taken from a file.
    const requests = exchanges.map(({ path, body }, at) => ({ name: `c${at + 1}`, path, body: jsonOf(body) }));
    assert.deepEqual(
      replayRequests(requests, 'required').map((one) => (one.outcome === 'continues' ? one.parent : one.outcome)),
      ['root', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6'],
    );
  });

  test('compaction', async () => {
    const agent = await codex({ top: 'model_context_window = 20000\nmodel_auto_compact_token_limit = 6000' });
    await runScenario({
      ...agent,
      run: 'compaction',
      calls: [
        {
          id: 'c1',
          answer: { reasoning: 'First.', tool_calls: [shell(TOOL, 'call_1', 'echo one-$((1+0))')], ...usage(1000) },
          expect: { root: { cause: 'first_call' } },
        },
        {
          id: 'c2',
          answer: { content: 'Second.', tool_calls: [shell(TOOL, 'call_2', 'echo two-$((1+1))')], ...usage(7000) },
          expect: { parent: 'c1' },
          sees: ['one-1'],
        },
        {
          id: 'summary',
          when: { contains: COMPACTION },
          answer: { content: SUMMARY, ...usage(2000) },
          expect: {
            root: {
              cause: 'render_differs',
              nearest: 'c2',
              detail: { keys: ['parallel_tool_calls', 'tool_choice', 'tools'] },
            },
          },
          sees: ['two-2'],
        },
        {
          id: 'c3',
          answer: { tool_calls: [shell(TOOL, 'call_3', 'echo three-$((1+2))')], ...usage(1000) },
          expect: {
            root: restarted('c2'),
          },
          sees: [SUMMARY, TASK],
          lacks: ['two-2', 'Second.'],
        },
        { id: 'c4', answer: { content: FIRST_ANSWER, ...usage(1100) }, expect: { parent: 'c3' }, sees: ['three-3'] },
      ],
      drive: async (world) => {
        await agent.setUp(world);
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });

  test('context refusal', async () => {
    const agent = await codex();
    await runScenario({
      ...agent,
      run: 'context refusal',
      refused: 1,
      note: 'It ends the run with "ran out of room"; the next run of the conversation compacts first.',
      calls: [
        {
          id: 'c1',
          answer: { reasoning: 'First.', tool_calls: [shell(TOOL, 'call_1', 'echo one-$((1+0))')] },
          expect: { root: { cause: 'first_call' } },
        },
        {
          id: 'summary',
          when: { contains: COMPACTION },
          answer: { content: SUMMARY },
          expect: {
            root: {
              cause: 'render_differs',
              nearest: 'c1',
              detail: { keys: ['parallel_tool_calls', 'tool_choice', 'tools'] },
            },
          },
          sees: ['one-1'],
        },
        {
          id: 'c2',
          answer: { tool_calls: [shell(TOOL, 'call_2', 'echo two-$((1+1))')] },
          expect: {
            root: restarted('c1'),
          },
          sees: [SUMMARY, FOLLOW_UP],
        },
        { id: 'c3', answer: { content: LAST_ANSWER }, expect: { parent: 'c2' }, sees: ['two-2'] },
      ],
      drive: async (world) => {
        await agent.setUp(world);
        world.stack.worker.arm({ kind: 'length_refusal', match: { attempt_index: 1 } });
        const refused = await agent.run(world, TASK);
        assert.equal(refused.code, 1);
        assert.match(refused.stderr, /ran out of room/);
        assert.equal((await agent.run(world, FOLLOW_UP, { resume: true })).stdout, `${LAST_ANSWER}\n`);
      },
    });
  });

  lostConnectionTests(codex, TOOL, ['running', 'finished', 'streaming']);

  test('odd turns', async () => {
    const agent = await codex();
    await runScenario({
      ...agent,
      run: 'odd turns',
      calls: ({ work }) =>
        oddTurnCalls(TOOL, {
          first: { root: { cause: 'first_call' } },
          work,
          write: { name: 'no_such_tool', file: 'file' },
          rewrites: {},
        }),
      drive: async (world) => {
        await agent.setUp(world);
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });

  test('idle stream', async () => {
    const agent = await codex({ provider: 'stream_idle_timeout_ms = 3000' });
    await runScenario({
      ...agent,
      run: 'idle stream',
      note: 'Comments do not count as life: it sends again, and joins. Set `stream_idle_timeout_ms`.',
      resends: 1,
      stack: COMMENTS,
      calls: [{ id: 'c1', answer: { content: FIRST_ANSWER }, expect: { root: { cause: 'first_call' } } }],
      drive: async (world) => {
        await agent.setUp(world);
        world.stack.worker.arm({ kind: 'hold' });
        const run = agent.run(world, TASK);
        await until('the re-send', () => world.tap.exchanges[1]?.reply.startsWith(':') === true);
        world.stack.worker.release();
        assert.equal((await run).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });
});
