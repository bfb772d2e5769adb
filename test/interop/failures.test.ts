import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { Agent } from './support/agent.ts';
import { type EngineMessage, type Peer, type PeerWorker, startPeer } from './support/peer.ts';
import { describeWith, pythonEnvironment } from './support/python-environment.ts';
import { MANNERS, nameOf } from './support/script.ts';
import { readReply } from './support/served.ts';

/** What goes wrong under schema 2, as the published trainer side reads it (protocol sections 6 and 13). */

const environment = await pythonEnvironment('peer');

const FAULTS: readonly {
  fault: NonNullable<EngineMessage['fault']>;
  reason: string;
  status: number;
  staged: number;
}[] = [
  { fault: 'storing fails', reason: 'worker_capture_failed', status: 200, staged: 0 },
  { fault: 'no acknowledgement', reason: 'worker_response_missing_commit_coordinates', status: 200, staged: 1 },
  { fault: 'foreign acknowledgement', reason: 'invalid_worker_commit_coordinates', status: 200, staged: 1 },
  { fault: 'engine error', reason: 'request_finished_without_staged_coordinates', status: 400, staged: 1 },
];

describeWith(environment, 'failures with the published peers', (python) => {
  let peer: Peer;
  let worker: PeerWorker;
  let stack: Stack;
  before(async () => {
    peer = await startPeer(python);
    worker = peer.vllm;
    stack = await startStack({ config: { 'capture.schema_version': '2', workers: worker.url } });
  });
  after(async () => {
    await stack.close();
    await peer.stop();
  });

  for (const { fault, reason, status, staged } of FAULTS) {
    for (const manner of MANNERS) {
      test(`${fault}: ${status === 200 ? 'the agent is served' : 'the agent gets the error'}: ${nameOf(manner)}`, async () => {
        const attempt = `${fault}-${nameOf(manner)}`.replaceAll(' ', '-');
        const agent = new Agent(stack.proxy.url, attempt).says('Do the task.');
        await worker.script({ content: 'What the agent hears.', fault });
        const reply = await agent.ask(manner);
        assert.equal(reply.status, status, reply.text);
        assert.doesNotMatch(reply.text, /ng_c|token_id|"logprobs":[^n[]|"logprobs":\[[^\]]/);
        if (status === 200) {
          const served = readReply(manner.dialect, manner.stream === true, reply.text);
          assert.equal(served.said.text, 'What the agent hears.');
          assert.match(served.id, /^completion-\d+$/);
        }
        const audit = await worker.audit(stack, attempt);
        assert.deepEqual(audit.records, []);
        assert.deepEqual(
          audit.failures.map((failure) => failure.reason),
          [reason],
        );
        assert.equal(audit.staged.length, staged);
        const { json } = await stack.control('GET', `/ledger/${attempt}`);
        assert.deepEqual(json.pending_call_ids, [audit.failures[0]?.model_call_id]);
      });
    }
  }

  test('a pending call of a closed attempt is a failure of the manifest, until it commits', async () => {
    const held = await startStack({ config: { 'capture.schema_version': '2' } });
    held.worker.arm({ kind: 'hold' });
    const agent = new Agent(held.proxy.url, 'pending').says('Do the task.');
    const asked = agent.ask({ dialect: 'chat' });
    await held.worker.whenHeld(1);
    assert.deepEqual((await worker.audit(held, 'pending')).failures, []);

    const { json } = await held.control('POST', '/ledger/pending/close?wait_s=0');
    const [pending] = json.pending_call_ids;
    assert.equal(json.complete, false);
    const closed = await worker.audit(held, 'pending');
    assert.deepEqual(closed.failures, [
      { schema_version: 2, model_call_id: pending, reason: 'request_finished_without_staged_coordinates' },
    ]);

    held.worker.release();
    assert.equal((await asked).status, 200);
    const manifest = await held.control('GET', '/training-token-capture/control/rollouts/pending/manifest');
    assert.deepEqual(manifest.json.failures, []);
    assert.deepEqual(
      manifest.json.records.map((record: { model_call_id: string }) => record.model_call_id),
      [pending],
    );
    await held.close();
  });

  const DEFECTS = [
    ['ledger_row_missing_response_id', (text: string) => text.replace(/"response_id":"[^"]+"/, '"response_id":""')],
    ['ledger_row_missing_response_id', (text: string) => text.replace(/"response_id":"[^"]+",/, '')],
    ['ledger_row_missing_chain_hash', (text: string) => text.replace(/"chain_hash":"[^"]+"/, '"chain_hash":""')],
    ['ledger_row_missing_chain_hash', (text: string) => text.replace(/"cumulative_hash":"[^"]+",/, '')],
  ] as const;
  DEFECTS.forEach(([reason, damage], at) => {
    test(`a defective row is a failure, ${reason}, and the others are read: ${at}`, async () => {
      let damaged = 'nothing yet';
      const ledger = await ledgerWithRows((text) => (text.includes(damaged) ? damage(text) : text));
      const other = await startStack({
        config: { 'capture.schema_version': '2', workers: worker.url },
        overrides: { ledger },
      });
      const ask = (task: string) => new Agent(other.proxy.url, 'defects').says(task).turn({ dialect: 'chat' });
      const [kept, lost] = [await ask('Do the task.'), await ask('Another task.')];
      damaged = `"response_id":"${lost.id}"`;
      const audit = await worker.audit(other, 'defects');
      assert.deepEqual(
        audit.records.map((record) => record.response_id),
        [kept.id],
      );
      assert.deepEqual(
        audit.failures.map((failure) => failure.reason),
        [reason],
      );
      await other.close();
    });
  });
});

/** A ledger whose rows read as `change` makes them: rows that some other program wrote. */
async function ledgerWithRows(change: (text: string) => string): Promise<Ledger> {
  const ledger = await openLedger({
    url: 'sqlite::memory:',
    replica: 'defects',
    now: () => Date.now() / 1000,
    replies: { keepBytes: 0, keepS: 0 },
    leaseS: 15,
    abandonedAfterS: null,
  });
  const records = ledger.records.bind(ledger);
  ledger.records = async (...range) => (await records(...range)).map(change);
  return ledger;
}
