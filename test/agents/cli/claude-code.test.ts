import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ScriptedCall } from '../harness/expectation.ts';
import { until } from '../harness/interrupt.ts';
import { runScenario } from '../harness/scenario.ts';
import { claudeCode } from './agents.ts';
import { COMMENTS, lostConnectionTests } from './lost-connection.ts';
import { oddTurnCalls } from './odd-turns.ts';
import { FIRST_ANSWER, FOLLOW_UP, LAST_ANSWER, type ShellTool, shell, TASK, taskCalls, usage } from './task.ts';

const TOOL: ShellTool = { name: 'Bash', command: 'command', extra: '"timeout": 10000, "description":"d\\u00e9"' };
const SUMMARY = 'The summary of what was done.';

/**
 * It summarizes what stands before the newest turn, so the request for the summary continues the call before that turn; the summary then takes the place of what it
 * sums up, and the newest turn follows as it was.
 */
function compactionCalls(totals: readonly [number, number]): ScriptedCall[] {
  return [
    {
      id: 'c1',
      answer: { reasoning: 'First.', tool_calls: [shell(TOOL, 'call_1', 'echo one-$((1+0))')], ...usage(totals[0]) },
      expect: { root: { cause: 'first_call' } },
    },
    {
      id: 'c2',
      answer: { content: 'Second.', tool_calls: [shell(TOOL, 'call_2', 'echo two-$((1+1))')], ...usage(totals[1]) },
      expect: { parent: 'c1' },
      sees: ['one-1'],
    },
    {
      id: 'summary',
      when: { contains: 'CRITICAL: Respond with TEXT ONLY' },
      answer: { content: `<summary>${SUMMARY}</summary>`, ...usage(2000) },
      expect: { parent: 'c1' },
      sees: ['one-1', 'First.'],
      lacks: ['Second.'],
    },
    {
      id: 'c3',
      answer: { tool_calls: [shell(TOOL, 'call_3', 'echo three-$((1+2))')], ...usage(1000) },
      expect: { root: { cause: 'history_differs', detail: { part: 'text', index: 1, role: 'user' } } },
      sees: [SUMMARY, 'Second.', 'two-2'],
      lacks: ['First.'],
    },
    { id: 'c4', answer: { content: FIRST_ANSWER, ...usage(1100) }, expect: { parent: 'c3' }, sees: ['three-3'] },
  ];
}

describe('Claude Code', { concurrency: 2 }, () => {
  test('task', async () => {
    const agent = await claudeCode();
    await runScenario({
      ...agent,
      run: 'task',
      calls: taskCalls(TOOL),
      drive: async (world) => {
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
        assert.equal((await agent.run(world, FOLLOW_UP, { resume: true })).stdout, `${LAST_ANSWER}\n`);
      },
    });
  });

  test('compaction', async () => {
    const agent = await claudeCode({ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' });
    await runScenario({
      ...agent,
      run: 'compaction',
      calls: compactionCalls([1000, 120_000]),
      drive: async (world) => {
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });

  test('context refusal', async () => {
    const agent = await claudeCode();
    await runScenario({
      ...agent,
      run: 'context refusal',
      refused: 1,
      note: 'It compacts and goes on in the same run.',
      calls: compactionCalls([1000, 1100]),
      drive: async (world) => {
        world.stack.worker.arm({ kind: 'length_refusal', match: { attempt_index: 2 } });
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });

  lostConnectionTests(claudeCode, TOOL, ['running', 'finished', 'streaming']);

  test('odd turns', async () => {
    const agent = await claudeCode();
    await runScenario({
      ...agent,
      run: 'odd turns',
      calls: ({ work }) =>
        oddTurnCalls(TOOL, {
          first: { root: { cause: 'first_call' } },
          work,
          write: { name: 'Write', file: 'file_path' },
          needs: '"description":"d",',
          rewrites: {
            stripped: {
              says: '`cd <its own folder> &&` is taken off a command, and the text of a number becomes a number.',
              part: 'arguments',
              arguments: ['command', 'timeout'],
            },
            blank: { says: 'Text of white space only is dropped.', part: 'text' },
            trailing: {
              says: 'Trailing white space is taken off the lines that go into a file (not `.md`).',
              part: 'arguments',
              arguments: ['content'],
            },
          },
        }),
      drive: async (world) => {
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });

  test('slow answer', async () => {
    const timeoutMs = 3000;
    const agent = await claudeCode({ API_TIMEOUT_MS: String(timeoutMs) });
    await runScenario({
      ...agent,
      run: 'slow answer',
      note: '`API_TIMEOUT_MS` (600 s) runs until the head of the stream; comments count as life.',
      stack: COMMENTS,
      calls: [{ id: 'c1', answer: { content: FIRST_ANSWER }, expect: { root: { cause: 'first_call' } } }],
      drive: async (world) => {
        world.stack.worker.arm({ kind: 'late', delay_ms: 2 * timeoutMs });
        assert.equal((await agent.run(world, TASK)).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });

  test('timeout', async () => {
    const agent = await claudeCode({ API_TIMEOUT_MS: '3000' });
    await runScenario({
      ...agent,
      run: 'timeout',
      resends: 1,
      stack: { config: { 'sse.grace_s': '60' } },
      calls: [{ id: 'c1', answer: { content: FIRST_ANSWER }, expect: { root: { cause: 'first_call' } } }],
      drive: async (world) => {
        world.stack.worker.arm({ kind: 'hold' });
        const run = agent.run(world, TASK);
        await until('the re-send', () => world.tap.exchanges.length === 2);
        world.stack.worker.release();
        assert.equal((await run).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });
});
