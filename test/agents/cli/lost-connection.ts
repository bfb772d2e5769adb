import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBeside } from '../harness/child.ts';
import type { ScriptedCall } from '../harness/expectation.ts';
import { interrupt, type Moment } from '../harness/interrupt.ts';
import { runScenario, type World } from '../harness/scenario.ts';
import type { CliAgent } from './agents.ts';
import { FIRST_ANSWER, type ShellTool, shell, TASK } from './task.ts';

/** A stack that opens streams at once and holds them open with comments. */
export const COMMENTS = { config: { 'sse.grace_s': '0.2', 'sse.keepalive_s': '0.2' } };

/** Calls beside those of the task, what the first call of the task must be, and what has to be done for them while the agent runs. */
export interface SideCalls {
  readonly calls: readonly ScriptedCall[];
  readonly first: ScriptedCall['expect'];
  beside(world: World): Promise<void>;
}

/**
 * The connection breaks while the worker is busy with the second call: the agent's own retry code sends the same request again, and that joins the call. `side`: what the
 * agent does beside the three calls.
 */
export function lostConnectionTests(
  setUp: () => Promise<CliAgent>,
  tool: ShellTool,
  moments: readonly Moment[],
  side: SideCalls = { calls: [], first: { root: { cause: 'first_call' } }, beside: async () => undefined },
): void {
  for (const moment of moments)
    test(`connection lost, call ${moment}`, async () => {
      const agent = await setUp();
      await runScenario({
        ...agent,
        run: `connection lost, call ${moment}`,
        resends: 1,
        ...(moment === 'streaming' ? { stack: COMMENTS } : {}),
        calls: [
          ...side.calls,
          { id: 'c1', answer: { tool_calls: [shell(tool, 'call_1', 'echo one-$((1+0))')] }, expect: side.first },
          {
            id: 'c2',
            answer: { tool_calls: [shell(tool, 'call_2', 'echo two-$((1+1))')] },
            expect: { parent: 'c1' },
            sees: ['one-1'],
          },
          { id: 'c3', answer: { content: FIRST_ANSWER }, expect: { parent: 'c2' }, sees: ['two-2'] },
        ],
        drive: async (world) => {
          await agent.setUp(world);
          const breakIt = async () => {
            await side.beside(world);
            world.stack.worker.arm({ kind: 'hold', match: { turn: 1 } });
            await interrupt(world, moment);
          };
          const child = await runBeside(agent.run(world, TASK), breakIt());
          assert.ok(child.stdout.endsWith(`${FIRST_ANSWER}\n`), child.stdout + child.stderr);
        },
      });
    });
}
