import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Stack, startStack } from '../support/stack.ts';
import { Agent, type Manner } from './support/agent.ts';
import { type Peer, type PeerWorker, startPeer } from './support/peer.ts';
import { interpreter, pythonEnvironment, skipWithout } from './support/python-environment.ts';
import { assertOneChain, MANNERS, nameOf, SCRIPT, workThrough } from './support/script.ts';

/** Append-only rollouts over the published worker-side capture, read back by the published trainer side. */

const environment = await pythonEnvironment('peer');

describe('append-only rollouts', { skip: skipWithout(environment) }, () => {
  let peer: Peer;
  before(async () => {
    peer = await startPeer(interpreter(environment));
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

      test('every call went up captured, in the place of this kind of engine', async () => {
        const calls = await worker.calls();
        assert.equal(calls.length, 2 * MANNERS.length * SCRIPT.length);
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
