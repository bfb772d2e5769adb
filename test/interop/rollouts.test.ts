import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { anySaid, type Said } from '../support/conversations.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { Agent, type Manner } from './support/agent.ts';
import { type EngineMessage, type Peer, type PeerWorker, startPeer } from './support/peer.ts';
import { describeWith, pythonEnvironment } from './support/python-environment.ts';
import { samplesOf } from './support/samples.ts';
import { assertOneChain, MANNERS, nameOf, SCRIPT, toolCall, workThrough } from './support/script.ts';
import type { Served } from './support/served.ts';

/** Append-only rollouts over the published worker-side capture, read back by the published trainer side. */

const environment = await pythonEnvironment('peer');

const RANDOM_ROLLOUTS = 15;

/** Turns with their manners; the last one calls nothing. A JavaScript client reads a number beyond a double as Infinity and writes it as null: not the same. */
const turn = fc.tuple(anySaid, fc.constantFrom(...MANNERS));
const rollouts = fc
  .tuple(
    fc.array(
      turn.filter(([{ calls }]) => calls.every((call) => !call.arguments.includes('1e400'))),
      { minLength: 1, maxLength: 4 },
    ),
    turn.map(([said, manner]) => [{ ...said, text: said.text ?? 'The end.', calls: [] }, manner] as const),
  )
  .map(([turns, last]) => [...turns, last]);

function messageOf({ reasoning, text, calls }: Said): EngineMessage {
  return {
    content: text,
    ...(reasoning === null ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toolCall(call.id, call.arguments, call.name)) }),
  };
}

describeWith(environment, 'append-only rollouts', (python) => {
  let peer: Peer;
  before(async () => {
    peer = await startPeer(python);
  });
  after(() => peer.stop());

  for (const kind of ['vllm', 'megatron'] as const) {
    describe(`with a published ${kind} worker`, () => {
      let worker: PeerWorker;
      let stack: Stack;
      before(async () => {
        worker = peer[kind];
        stack = await startStack({
          config: { 'capture.schema_version': '2', 'worker.kind': kind, workers: worker.url },
        });
      });
      after(() => stack.close());

      for (const manner of MANNERS) {
        test(`one chain: ${nameOf(manner)}`, async () => {
          const agent = newAgent(`append-${nameOf(manner)}`);
          const served = await workThrough(worker, agent, () => manner);
          await assertOneChain(worker, stack, agent.attempt, served);
        });
      }

      MANNERS.forEach((_, first) => {
        const mannerOf = (turn: number) =>
          MANNERS[(first + turn * (first % 2 === 0 ? 2 : 5)) % MANNERS.length] as Manner;
        const names = [...SCRIPT.keys()].map((turn) => nameOf(mannerOf(turn)));
        test(`one chain across dialects: ${names.join(', ')}`, async () => {
          const agent = newAgent(`switch-${first}`);
          const served = await workThrough(worker, agent, mannerOf);
          await assertOneChain(worker, stack, agent.attempt, served);
        });
      });

      test('one chain each: random rollouts', async () => {
        const { values, seed } = samplesOf(rollouts, RANDOM_ROLLOUTS);
        for (const [at, turns] of values.entries()) {
          const agent = newAgent(`random-${at}`);
          await worker.script(...turns.map(([said]) => messageOf(said)));
          const served: Served[] = [];
          for (const [, manner] of turns) {
            served.push(await agent.turn(manner));
            if (served.at(-1)?.said.calls.length === 0) agent.says('Go on.');
          }
          try {
            await assertOneChain(worker, stack, agent.attempt, served);
          } catch (error) {
            throw new Error(`seed ${seed}, rollout ${at}: ${JSON.stringify(turns)}`, { cause: error });
          }
        }
      });

      test('every call went up captured, in the place of this kind of engine', async () => {
        const calls = await worker.calls();
        assert.ok(calls.length > 2 * MANNERS.length * SCRIPT.length);
        for (const { admission, fields } of calls) {
          assert.notEqual(admission, null);
          assert.equal(fields.includes('ng_capture'), kind === 'vllm');
          assert.equal(fields.includes('offload_params'), kind === 'megatron');
          assert.equal(fields.includes('required_prefix_token_ids'), admission?.mode === 'token_in');
        }
      });

      function newAgent(name: string): Agent {
        return new Agent(stack.proxy.url, name.replaceAll(' ', '-').toLowerCase(), 'Be brief.').says('Do the task.');
      }
    });
  }
});
