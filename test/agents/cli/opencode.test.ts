import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runBeside } from '../harness/child.ts';
import type { ScriptedCall } from '../harness/expectation.ts';
import { runScenario, type World } from '../harness/scenario.ts';
import { opencode } from './agents.ts';
import { COMMENTS, lostConnectionTests } from './lost-connection.ts';
import { oddTurnCalls } from './odd-turns.ts';
import { FIRST_ANSWER, FOLLOW_UP, LAST_ANSWER, type ShellTool, shell, TASK, taskCalls, usage } from './task.ts';

const TOOL: ShellTool = { name: 'bash', command: 'command', extra: '"description":"d\\u00e9"' };
const SUMMARY = 'The summary of what was done.';

/** Beside the first call it asks for a title, in a call of its own with another prompt and without tools. */
const TITLE: ScriptedCall = {
  id: 'title',
  when: { has_tools: false, contains: TASK },
  answer: { content: 'A title' },
  expect: { root: { cause: 'first_call' } },
  sees: ['Generate a title'],
};
/** Nothing else is recorded when the title is asked for, and the other way round: see `together`. */
const FIRST = { root: { cause: 'first_call' } };

/** The title and the first call are made at the same time: both are admitted before either is answered, in every run. */
async function together(world: World): Promise<void> {
  world.stack.worker.arm({ kind: 'hold', times: 2, match: { turn: 0 } });
  await world.stack.worker.whenHeld(2, AbortSignal.timeout(90_000));
  world.stack.worker.release();
}

function compactionCalls(totals: readonly [number, number]): ScriptedCall[] {
  return [
    TITLE,
    {
      id: 'c1',
      answer: { reasoning: 'First.', tool_calls: [shell(TOOL, 'call_1', 'echo one-$((1+0))')], ...usage(totals[0]) },
      expect: FIRST,
    },
    {
      id: 'c2',
      answer: { content: 'Second.', tool_calls: [shell(TOOL, 'call_2', 'echo two-$((1+1))')], ...usage(totals[1]) },
      expect: { parent: 'c1' },
      sees: ['one-1'],
    },
    {
      id: 'summary',
      when: { has_tools: false, contains: 'summary' },
      answer: { content: SUMMARY, ...usage(2000) },
      expect: {
        root: { cause: 'history_differs', detail: { index: 0, role: 'system', part: 'text' }, beginsAnew: true },
      },
    },
    {
      id: 'c3',
      answer: { tool_calls: [shell(TOOL, 'call_3', 'echo three-$((1+2))')], ...usage(1000) },
      expect: { root: { cause: 'history_differs', nearest: 'c2', detail: { index: 1, role: 'user', part: 'text' } } },
      sees: [SUMMARY],
      lacks: ['First.'],
    },
    { id: 'c4', answer: { content: FIRST_ANSWER, ...usage(1100) }, expect: { parent: 'c3' }, sees: ['three-3'] },
  ];
}

describe('opencode', { concurrency: 2 }, () => {
  test('task', async () => {
    const agent = await opencode();
    await runScenario({
      ...agent,
      run: 'task',
      calls: [
        TITLE,
        ...taskCalls(TOOL, FIRST.root, {
          root: {
            cause: 'history_differs',
            nearest: 'c5',
            detail: { part: 'name', call_index: 0, parts: ['name', 'arguments'] },
            rewrite: 'A call of a tool that is not there becomes a call of the tool `invalid`.',
          },
        }),
      ],
      drive: async (world) => {
        await agent.setUp(world);
        const child = await runBeside(agent.run(world, TASK), together(world));
        assert.ok(child.stdout.endsWith(`${FIRST_ANSWER}\n`), child.stderr);
        assert.equal((await agent.run(world, FOLLOW_UP, { resume: true })).stdout, `${LAST_ANSWER}\n`);
      },
    });
  });

  test('compaction', async () => {
    const agent = await opencode({ context: 100_000 });
    await runScenario({
      ...agent,
      run: 'compaction',
      calls: compactionCalls([1000, 99_000]),
      drive: async (world) => {
        await agent.setUp(world);
        const child = await runBeside(agent.run(world, TASK), together(world));
        assert.ok(child.stdout.endsWith(`${FIRST_ANSWER}\n`), child.stderr);
      },
    });
  });

  test('context refusal', async () => {
    const agent = await opencode();
    await runScenario({
      ...agent,
      run: 'context refusal',
      refused: 1,
      note: 'It compacts and goes on in the same run, and ends with exit code 1 all the same.',
      calls: compactionCalls([1000, 1100]),
      drive: async (world) => {
        await agent.setUp(world);
        world.stack.worker.arm({ kind: 'length_refusal', match: { turn: 2 } });
        const child = await runBeside(agent.run(world, TASK), together(world));
        assert.ok(child.stdout.endsWith(`${FIRST_ANSWER}\n`), child.stderr);
        assert.equal(child.code, 1);
      },
    });
  });

  lostConnectionTests(opencode, TOOL, ['running', 'streaming'], {
    calls: [{ ...TITLE, expect: FIRST }],
    first: FIRST,
    beside: together,
  });

  test('odd turns', async () => {
    const agent = await opencode();
    await runScenario({
      ...agent,
      run: 'odd turns',
      calls: ({ work }) => [
        TITLE,
        ...oddTurnCalls(TOOL, {
          first: FIRST,
          work,
          write: { name: 'write', file: 'filePath' },
          needs: '"description":"d",',
          rewrites: {
            broken: {
              says: 'A call with arguments that are no JSON becomes a call of the tool `invalid`.',
              part: 'name',
            },
            list: { says: 'Arguments that are no object are put into one.', part: 'arguments', arguments: ['value'] },
          },
        }),
      ],
      drive: async (world) => {
        await agent.setUp(world);
        const child = await runBeside(agent.run(world, TASK), together(world));
        assert.ok(child.stdout.endsWith(`${FIRST_ANSWER}\n`), child.stderr);
      },
    });
  });

  test('slow answer', async () => {
    const chunkTimeout = 3000;
    const agent = await opencode({ provider: { chunkTimeout } });
    await runScenario({
      ...agent,
      run: 'slow answer',
      note: '`headerTimeout` and `chunkTimeout` (300 s each): comments count as life. Do not set `timeout`, which ends every long call.',
      stack: COMMENTS,
      calls: [TITLE, { id: 'c1', answer: { content: FIRST_ANSWER }, expect: FIRST }],
      drive: async (world) => {
        await agent.setUp(world);
        const run = agent.run(world, TASK);
        world.stack.worker.arm({ kind: 'hold', times: 2, match: { turn: 0 } });
        await world.stack.worker.whenHeld(2, AbortSignal.timeout(90_000));
        await new Promise((resolve) => setTimeout(resolve, 2 * chunkTimeout));
        world.stack.worker.release();
        assert.equal((await run).stdout, `${FIRST_ANSWER}\n`);
      },
    });
  });
});
