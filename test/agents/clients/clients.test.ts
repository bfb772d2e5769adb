import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedCall } from '../harness/expectation.ts';
import { until } from '../harness/interrupt.ts';
import { runScenario } from '../harness/scenario.ts';
import { missingPython } from '../python/environment.ts';
import { clients } from './clients.ts';

const ANSWER = 'Something.';
const ROOT = { root: { cause: 'first_call' } };
const ONE: readonly ScriptedCall[] = [{ id: 'c1', answer: { content: ANSWER }, expect: ROOT }];
const TIMEOUT_MS = 3000;
const PATIENCE_MS = 90_000;

/** What the clients do that most agents are built on: how long they wait, and that what they send again joins. */
describe('client libraries', { concurrency: 4 }, async () => {
  const missing = await missingPython();
  if (missing !== null) {
    test('everything', { skip: missing });
    return;
  }
  for (const client of await clients()) {
    const name = `${client.agent}, ${client.dialect}`;

    test(`${name}: comments keep a slow stream alive`, async () => {
      await runScenario({
        ...client,
        run: 'slow answer',
        note: 'Comments count as life.',
        stack: { config: { 'sse.grace_s': '0.2', 'sse.keepalive_s': '0.2' } },
        calls: ONE,
        drive: async (world) => {
          world.stack.worker.arm({ kind: 'hold' });
          const answer = client.ask(world, { stream: true, timeoutMs: TIMEOUT_MS });
          await world.stack.worker.whenHeld(1, AbortSignal.timeout(PATIENCE_MS));
          await sleep(2 * TIMEOUT_MS);
          world.stack.worker.release();
          assert.equal(await answer, ANSWER);
        },
      });
    });

    test(`${name}: what is sent again after a timeout joins the call`, async () => {
      await runScenario({
        ...client,
        run: 'timeout',
        resends: 1,
        calls: ONE,
        drive: async (world) => {
          world.stack.worker.arm({ kind: 'hold' });
          const answer = client.ask(world, { timeoutMs: TIMEOUT_MS });
          await until('the re-send', () => world.tap.exchanges.length === 2);
          world.stack.worker.release();
          assert.equal(await answer, ANSWER);
        },
      });
    });

    test(`${name}: two samples of one prompt, side by side, both run`, async () => {
      await runScenario({
        ...client,
        run: 'two samples',
        calls: [...ONE, { id: 'c2', answer: { content: ANSWER }, expect: ROOT }],
        drive: async (world) => {
          world.stack.worker.arm({ kind: 'hold', times: 2 });
          const answers = [client.ask(world, {}), client.ask(world, {})];
          await world.stack.worker.whenHeld(2, AbortSignal.timeout(PATIENCE_MS));
          world.stack.worker.release();
          assert.deepEqual(await Promise.all(answers), [ANSWER, ANSWER]);
        },
      });
    });
  }
});
