import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../harness/interrupt.ts';
import { runScenario } from '../harness/scenario.ts';
import { pi } from './agents.ts';
import { COMMENTS, lostConnectionTests } from './lost-connection.ts';
import { oddTurnCalls } from './odd-turns.ts';
import { FIRST_ANSWER, FOLLOW_UP, LAST_ANSWER, type ShellTool, shell, TASK, taskCalls, usage } from './task.ts';

const TOOL: ShellTool = { name: 'bash', command: 'command', extra: '"timeout": 10' };
const LONG = 'This took a while. '.repeat(10);
const SUMMARY = 'The summary of what was done.';
/** It counts what it keeps by characters. */
const KEEP_LITTLE = { compaction: { keepRecentTokens: 20 } };

describe('pi', { concurrency: 2 }, () => {
  test('task', async () => {
    const agent = await pi();
    await runScenario({
      ...agent,
      run: 'task',
      calls: taskCalls(TOOL),
      drive: async (world) => {
        await agent.setUp(world);
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
        assert.equal((await agent.run(world, FOLLOW_UP, { resume: true })).stdout, `${LAST_ANSWER}\n`);
      },
    });
  });

  test('compaction', async () => {
    const agent = await pi(KEEP_LITTLE);
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
          // Longer than what it keeps, so it keeps this turn and sums up what is before it.
          answer: { content: LONG, tool_calls: [shell(TOOL, 'call_2', 'echo two-$((1+1))')], ...usage(2000) },
          expect: { parent: 'c1' },
          sees: ['one-1'],
        },
        { id: 'c3', answer: { content: FIRST_ANSWER, ...usage(95_000) }, expect: { parent: 'c2' }, sees: ['two-2'] },
        {
          id: 'summary',
          when: { has_tools: false },
          answer: { content: SUMMARY, ...usage(2000) },
          expect: {
            root: { cause: 'history_differs', detail: { index: 0, role: 'system', part: 'text' }, beginsAnew: true },
          },
        },
        {
          id: 'c4',
          answer: { tool_calls: [shell(TOOL, 'call_3', 'echo three-$((1+2))')], ...usage(1000) },
          expect: {
            root: { cause: 'history_differs', nearest: 'c3', detail: { index: 1, role: 'user', part: 'text' } },
          },
          sees: [SUMMARY, LONG, 'two-2', FOLLOW_UP],
          lacks: ['First.', 'one-1'],
        },
        { id: 'c5', answer: { content: LAST_ANSWER, ...usage(1100) }, expect: { parent: 'c4' }, sees: ['three-3'] },
      ],
      drive: async (world) => {
        await agent.setUp(world);
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
        assert.equal((await agent.run(world, FOLLOW_UP, { resume: true })).stdout, `${LAST_ANSWER}\n`);
      },
    });
  });

  test('context refusal', async () => {
    const agent = await pi(KEEP_LITTLE);
    await runScenario({
      ...agent,
      run: 'context refusal',
      refused: 1,
      note: 'It compacts and goes on (`--mode rpc`; with `-p` it ends before it has gone on).',
      calls: [
        {
          id: 'c1',
          answer: { reasoning: 'First.', tool_calls: [shell(TOOL, 'call_1', 'echo one-$((1+0))')] },
          expect: { root: { cause: 'first_call' } },
        },
        {
          id: 'summary',
          when: { has_tools: false },
          answer: { content: SUMMARY },
          expect: {
            root: { cause: 'history_differs', detail: { index: 0, role: 'system', part: 'text' }, beginsAnew: true },
          },
        },
        {
          id: 'c2',
          answer: { tool_calls: [shell(TOOL, 'call_2', 'echo two-$((1+1))')] },
          expect: { root: { cause: 'history_differs', nearest: 'c1', detail: { index: 1, part: 'inserted' } } },
          sees: [SUMMARY, 'one-1'],
        },
        { id: 'c3', answer: { content: FIRST_ANSWER }, expect: { parent: 'c2' }, sees: ['two-2'] },
      ],
      drive: async (world) => {
        await agent.setUp(world);
        world.stack.worker.arm({ kind: 'length_refusal', match: { attempt_index: 1 } });
        const { stdout, stderr } = await agent.rpc(world, TASK, new RegExp(`"agent_end".*${FIRST_ANSWER}`));
        assert.match(stdout, new RegExp(FIRST_ANSWER), stderr);
      },
    });
  });

  lostConnectionTests(pi, TOOL, ['running', 'finished', 'streaming']);

  test('odd turns', async () => {
    const agent = await pi();
    await runScenario({
      ...agent,
      run: 'odd turns',
      calls: ({ work }) =>
        oddTurnCalls(TOOL, {
          first: { root: { cause: 'first_call' } },
          work,
          write: { name: 'write', file: 'path' },
          rewrites: {
            broken: { says: 'Arguments that are cut off are completed.', part: 'arguments', arguments: ['command'] },
            blank: { says: 'Text of white space only is dropped.', part: 'text' },
          },
        }),
      drive: async (world) => {
        await agent.setUp(world);
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });

  test('slow answer', async () => {
    const timeoutMs = 3000;
    const agent = await pi({ retry: { provider: { timeoutMs } } });
    await runScenario({
      ...agent,
      run: 'slow answer',
      note: '`retry.provider.timeoutMs` (600 s) runs until the head of the stream; comments count as life.',
      stack: COMMENTS,
      calls: [{ id: 'c1', answer: { content: FIRST_ANSWER }, expect: { root: { cause: 'first_call' } } }],
      drive: async (world) => {
        await agent.setUp(world);
        world.stack.worker.arm({ kind: 'late', delay_ms: 2 * timeoutMs });
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });

  test('timeout', async () => {
    const agent = await pi({ retry: { provider: { timeoutMs: 3000 } } });
    await runScenario({
      ...agent,
      run: 'timeout',
      resends: 1,
      stack: { config: { 'sse.grace_s': '60' } },
      calls: [{ id: 'c1', answer: { content: FIRST_ANSWER }, expect: { root: { cause: 'first_call' } } }],
      drive: async (world) => {
        await agent.setUp(world);
        world.stack.worker.arm({ kind: 'hold' });
        const run = agent.run(world, TASK);
        await until('the re-send', () => world.tap.exchanges.length === 2);
        world.stack.worker.release();
        assert.equal((await run).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });
});
