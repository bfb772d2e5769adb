import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stack, startStack } from '../support/stack.ts';
import { Agent } from './support/agent.ts';
import { type Peer, type PeerWorker, startPeer } from './support/peer.ts';
import { describeWith, pythonEnvironment } from './support/python-environment.ts';
import { assertOneChain, MANNERS, nameOf, SCRIPT, workThrough } from './support/script.ts';
import { DIALECTS, readReply } from './support/served.ts';

/** What continues what under schema 2 (protocol section 13), read back through the published package. */

const environment = await pythonEnvironment('peer');

describeWith(environment, 'lineage with the published peers', (python) => {
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

  const newAgent = (name: string) => new Agent(stack.proxy.url, name.replaceAll(' ', '-').toLowerCase(), 'Be brief.');

  for (const manner of MANNERS) {
    test(`a rewritten history is unresolved and touches nothing else: ${nameOf(manner)}`, async () => {
      const agent = newAgent(`rewrite ${nameOf(manner)}`).says('Do the task.');
      const served = [await agent.turn(manner)];
      const untouched = await worker.audit(stack, agent.attempt);

      const rewriter = agent.fork();
      rewriter.history[0] = { by: 'user', text: 'Do the task!' };
      const uncaptured = await rewriter.says('Go on.').turn(manner);
      assert.match(String(uncaptured.said.text), /^answer \d+$/);
      assert.equal((await worker.calls()).at(-1)?.admission, null);
      const rewritten = await worker.audit(stack, agent.attempt);
      assert.deepEqual(rewritten.records, untouched.records);
      assert.deepEqual(rewritten.staged, untouched.staged);
      assert.deepEqual(
        rewritten.failures.map(({ reason }) => reason),
        ['unresolved_parent'],
      );

      // Nothing of the uncaptured call can be continued, also where its history is not rewritten again.
      await rewriter.says('And on.').turn(manner);
      const again = await worker.audit(stack, agent.attempt);
      assert.deepEqual(again.records, untouched.records);
      assert.deepEqual(
        again.failures.map(({ reason }) => reason),
        ['unresolved_parent', 'unresolved_parent'],
      );
      assert.equal(new Set(again.failures.map((failure) => failure.model_call_id)).size, 2);

      // The history that was not rewritten goes on as if nothing had happened.
      served.push(await agent.says('Go on.').turn(manner));
      const audit = await worker.audit(stack, agent.attempt);
      assert.deepEqual(
        audit.records.map((record) => record.response_id),
        served.map(({ id }) => id),
      );
      assert.equal(audit.records[1]?.parent_call_id, audit.records[0]?.model_call_id);
      assert.equal(audit.rows.length, 1);

      const { json } = await stack.control('GET', `/ledger/${agent.attempt}`);
      assert.deepEqual(json.pending_call_ids, []);
      assert.deepEqual(
        json.attempted_call_ids,
        audit.records.map((record) => record.model_call_id),
      );
    });

    test(`a message put into the history, wherever, is no continuation: ${nameOf(manner)}`, async () => {
      const agent = newAgent(`inserted ${nameOf(manner)}`).says('Do the task.');
      await agent.turn(manner);
      await agent.says('Go on.').turn(manner);
      const places = agent.history.length;
      for (let at = 0; at < places; at++) {
        const inserter = agent.fork();
        inserter.history.splice(at, 0, { by: 'user', text: 'By the way,' });
        await inserter.says('And on.').turn(manner);
      }
      const audit = await worker.audit(stack, agent.attempt);
      assert.equal(audit.records.length, 2);
      assert.deepEqual(
        audit.failures.map(({ reason }) => reason),
        Array(places).fill('unresolved_parent'),
      );
      assert.equal(audit.rows.length, 1);
    });
  }

  for (const dialect of DIALECTS) {
    test(`identical samples do not break the chain: ${dialect}`, async () => {
      const agent = newAgent(`twins ${dialect}`).says('Do the task.');
      await worker.script({ content: 'the same' }, { content: 'the same' }, { content: 'the end' });
      const first = await agent.answer({ dialect });
      const second = await agent.answer({ dialect });
      assert.notEqual(first.id, second.id);
      agent.accept(second);
      const last = await agent.says('Go on.').turn({ dialect });
      const audit = await worker.audit(stack, agent.attempt, { response: last.payload });
      const [one, two, end] = audit.records.map((record) => record.model_call_id);
      assert.deepEqual(audit.failures, []);
      assert.deepEqual(
        audit.rows.map((row) => row.calls),
        [[one], [two, end]],
      );
      assert.equal(audit.selected.call, end);
      assert.equal(audit.attributed.call, end);
    });

    test(`of two samples the accepted one is the parent: ${dialect}`, async () => {
      const agent = newAgent(`samples ${dialect}`).says('Do the task.');
      await worker.script({ content: 'one way' }, { content: 'another way' });
      const [kept, dropped] = [agent.fork(), agent.fork()];
      kept.accept(await agent.answer({ dialect }));
      dropped.accept(await agent.answer({ dialect }));
      await dropped.says('Go on.').turn({ dialect });
      await kept.says('Go on.').turn({ dialect });
      const audit = await worker.audit(stack, agent.attempt);
      const [one, two, ofTwo, ofOne] = audit.records.map((record) => record.model_call_id);
      assert.deepEqual(audit.failures, []);
      assert.deepEqual(
        audit.rows.map((row) => row.calls).toSorted(),
        [
          [one, ofOne],
          [two, ofTwo],
        ].toSorted(),
      );
    });

    test(`two tasks with the same answer keep their own continuations: ${dialect}`, async () => {
      const title = newAgent(`same-answer ${dialect}`).says('Give this task a title.');
      const task = newAgent(`same-answer ${dialect}`).says('Do the task.');
      await worker.script({ content: 'OK' }, { content: 'OK' });
      await title.turn({ dialect });
      await task.turn({ dialect });
      await title.says('Shorter.').turn({ dialect });
      await task.says('Go on.').turn({ dialect });
      const audit = await worker.audit(stack, task.attempt);
      const [titled, tasked, shorter, further] = audit.records.map((record) => record.model_call_id);
      assert.deepEqual(audit.failures, []);
      assert.deepEqual(
        audit.rows.map((row) => row.calls),
        [
          [titled, shorter],
          [tasked, further],
        ],
      );
    });

    test(`an automatic re-send is the call it repeats: ${dialect}`, async () => {
      const agent = newAgent(`resend ${dialect}`).says('Do the task.');
      const headers = { 'idempotency-key': `key-${dialect}` };
      const first = await agent.ask({ dialect }, headers);
      const again = await agent.ask({ dialect }, headers);
      const streamed = await agent.ask({ dialect, stream: true }, headers);
      assert.deepEqual(again.json, first.json);
      const served = readReply(dialect, true, streamed.text);
      assert.equal(served.id, first.json.id);
      agent.accept(served);
      const last = await agent.says('Go on.').turn({ dialect });
      await assertOneChain(worker, stack, agent.attempt, [served, last]);
    });

    test(`a history of elsewhere is a root in a fresh attempt, and only there: ${dialect}`, async () => {
      const elsewhere = newAgent(`elsewhere ${dialect}`).says('Do the task.');
      await elsewhere.turn({ dialect });
      elsewhere.says('Go on.');

      const fresh = newAgent(`fresh ${dialect}`);
      fresh.history = [...elsewhere.history];
      const served = [await fresh.turn({ dialect })];
      served.push(await fresh.says('And on.').turn({ dialect }));
      await assertOneChain(worker, stack, fresh.attempt, served);

      const failed = newAgent(`failed ${dialect}`);
      failed.history = [...elsewhere.history];
      await worker.script({ fault: 'engine error' });
      assert.equal((await failed.ask({ dialect })).status, 400);
      await failed.turn({ dialect });
      const audit = await worker.audit(stack, failed.attempt);
      assert.deepEqual(audit.records, []);
      assert.deepEqual(
        audit.failures.map(({ reason }) => reason),
        ['request_finished_without_staged_coordinates', 'unresolved_parent'],
      );
    });
  }

  test('a second task in the attempt is a root of its own', async () => {
    const agent = newAgent('two tasks').says('Do the task.');
    await workThrough(worker, agent, () => ({ dialect: 'chat' }));
    await newAgent('two tasks').says('Do another task.').turn({ dialect: 'responses' });
    const audit = await worker.audit(stack, agent.attempt);
    assert.deepEqual(audit.failures, []);
    assert.deepEqual(
      audit.rows.map((row) => row.calls.length),
      [SCRIPT.length, 1],
    );
    assert.equal(audit.selected.call, audit.records[SCRIPT.length - 1]?.model_call_id);
  });
});
