import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { Agent, capturePath } from './support/agent.ts';
import { type Contender, startOurs, startReleased } from './support/contenders.ts';
import { describeWith, pythonEnvironment } from './support/python-environment.ts';
import { MANNERS, nameOf } from './support/script.ts';
import { DIALECTS, type Dialect } from './support/served.ts';

/**
 * What the released model server loses and this one keeps, each shown on both (docs/peers.md). The same reference worker stands behind each of them; it tells
 * what was generated and staged.
 */

const environment = await pythonEnvironment('peer');
const LOST = 'request_finished_without_staged_coordinates';

describeWith(environment, 'the released server and ours, side by side', (python) => {
  let released: Contender;
  let ours: Contender;
  before(async () => {
    [released, ours] = await Promise.all([startReleased(python), startOurs()]);
  });
  after(() => Promise.all([released.stop(), ours.stop()]));

  const reasons = ({ manifest }: Awaited<ReturnType<Contender['manifest']>>) =>
    manifest.failures.map((failure) => failure.reason);

  for (const manner of MANNERS) {
    test(`the same rollout has the same records: ${nameOf(manner)}`, async () => {
      const attempt = `same-${nameOf(manner)}`.replace(' ', '-').toLowerCase();
      // In Chat the released server serves reasoning as a part of the text.
      const reasoning = manner.dialect === 'chat' ? null : 'First look.';
      const bash = (id: string, command: string) => ({ id, name: 'bash', arguments: JSON.stringify({ command }) });
      const answers = [
        { content: 'I look.', reasoning, tool_calls: [bash('call_a', 'ls -l')] },
        { tool_calls: [bash('call_b', 'cat "ä b"'), bash('call_c', 'cat c')] },
        { content: 'Done: 完了.' },
        { content: 'Nothing more.' },
      ];
      const run = async (server: Contender) => {
        server.worker.script({ answers });
        const agent = new Agent(server.url, attempt, 'Be brief.').says('Do the task.');
        for (const _ of answers) {
          const served = await agent.turn(manner);
          if (served.said.calls.length === 0) agent.says('Go on.');
        }
        const { records, failures } = (await server.manifest(attempt)).manifest;
        assert.deepEqual(failures, []);
        const places = new Map(records.map((record, at) => [record.model_call_id, at]));
        return records.map((record) => ({
          parent: record.parent_call_id === null ? null : places.get(record.parent_call_id),
          output: record.output_fingerprint,
          continuation: record.continuation_fingerprint,
        }));
      };
      const [theirs, records] = await Promise.all([run(released), run(ours)]);
      assert.deepEqual(records, theirs);
      assert.equal(new Set(records.map(({ continuation }) => continuation)).size, answers.length);
    });
  }

  for (const manner of MANNERS) {
    test(`a client that hangs up: ${nameOf(manner)}`, async () => {
      const attempt = `hang-up-${nameOf(manner)}`.replace(' ', '-').toLowerCase();
      const hangUp = async (server: Contender) => {
        server.worker.arm({ kind: 'hold' });
        const leave = new AbortController();
        const body = JSON.stringify(
          new Agent(server.url, attempt).says('Do the task.').body(manner.dialect, manner.stream === true),
        );
        const asked = post(server, attempt, manner.dialect, body, leave.signal);
        await server.worker.whenHeld(1);
        leave.abort();
        await assert.rejects(asked, { name: 'AbortError' });
        // The released server cancels the call; give it time to notice before the worker answers.
        if (server === released) await noticed(server, attempt);
        server.worker.release();
        assert.equal(server.worker.stagedKeys(`${attempt}/`).length, 1);
      };
      await Promise.all([hangUp(released), hangUp(ours)]);

      const ledger = await settled(ours, attempt, 1);
      assert.deepEqual(reasons(ledger), []);
      assert.deepEqual(
        ledger.manifest.records.map((record) => `${attempt}/${record.model_call_id}`),
        ours.worker.stagedKeys(`${attempt}/`),
      );
      // There it is not even certain that a failure row says so: it depends on where the cancellation hits.
      const theirs = await released.manifest(attempt);
      assert.deepEqual(theirs.manifest.records, []);
      assert.ok(reasons(theirs).every((reason) => reason === LOST));
    });
  }

  test('a server killed in flight', async () => {
    const die = async (server: Contender) => {
      const agent = new Agent(server.url, 'killed').says('Do the task.');
      await agent.turn({ dialect: 'chat' });
      server.worker.arm({ kind: 'hold' });
      const asked = agent.says('Go on.').ask({ dialect: 'chat' });
      await Promise.all([assert.rejects(asked), server.worker.whenHeld(1).then(server.killAndRestart)]);
      server.worker.release();
      assert.equal(server.worker.stagedKeys('killed/').length, 2);
      return server.manifest('killed');
    };
    const [theirs, ledger] = await Promise.all([die(released), die(ours)]);
    assert.equal(ledger.manifest.records.length, 1);
    assert.deepEqual(reasons(ledger), [LOST]);
    // There the manifest is clean: it says nothing of the call whose tokens the worker has staged.
    assert.equal(theirs.manifest.records.length, 1);
    assert.deepEqual(reasons(theirs), []);
  });

  test('an attempt name that a file system does not take', async () => {
    const long = 'a'.repeat(256);
    const ask = async (server: Contender) => {
      await new Agent(server.url, long).says('Do the task.').turn({ dialect: 'chat' });
      return server.manifest(long);
    };
    const [theirs, ledger] = await Promise.all([ask(released), ask(ours)]);
    assert.equal(ledger.manifest.records.length, 1);
    assert.equal(theirs.status, 500);
    assert.equal(released.worker.stagedKeys(`${long}/`).length, 1);
  });

  test('an attempt name that the store refuses', async () => {
    const name = 'task:1~2';
    const ask = (server: Contender) => new Agent(server.url, name).says('Do the task.').ask({ dialect: 'chat' });
    const [theirs, refused] = await Promise.all([ask(released), ask(ours)]);
    assert.equal(refused.status, 400);
    assert.equal(refused.json.error.code, 'invalid_attempt');
    assert.equal(ours.worker.stagedKeys(`${name}/`).length, 0);
    // There the agent works on, every call is generated and staged, and the manifest can never be read.
    assert.equal(theirs.status, 200);
    assert.equal(released.worker.stagedKeys(`${name}/`).length, 1);
    assert.equal((await released.manifest(name)).status, 400);
  });

  test('a retry by the SDK', async () => {
    const run = async (server: Contender) => {
      server.worker.arm({ kind: 'hold' });
      const leave = new AbortController();
      let requests = 0;
      const client = new OpenAI({
        apiKey: 'none',
        baseURL: `${server.url}/ng-rollout/retried/training-token-capture/v1`,
        maxRetries: 1,
        fetch: async (url, init) => {
          requests += 1;
          if (requests === 2) {
            server.worker.release();
            return fetch(url, init);
          }
          const asked = fetch(url, { ...init, signal: leave.signal });
          await server.worker.whenHeld(1);
          leave.abort();
          return asked;
        },
      });
      const completion = await client.chat.completions.create({
        model: 'policy',
        messages: [{ role: 'user', content: 'Do the task.' }],
      });
      assert.equal(requests, 2);
      return completion.id;
    };
    const [, id] = await Promise.all([run(released), run(ours)]);
    const ledger = await ours.manifest('retried');
    assert.deepEqual(
      ledger.manifest.records.map((record) => record.response_id),
      [id],
    );
    assert.deepEqual(reasons(ledger), []);
    assert.equal(ours.worker.stagedKeys('retried/').length, 1);
    // There inference ran twice, and one of the two is a failure or in no list.
    assert.equal(released.worker.stagedKeys('retried/').length, 2);
    assert.equal((await released.manifest('retried')).manifest.records.length, 1);
  });

  test('a client that writes arguments again', async () => {
    const run = async (server: Contender) => {
      server.worker.script({
        answers: [{ tool_calls: [{ id: 'call_a', name: 'bash', arguments: '{"timeout": 30.0, "command": "ls"}' }] }],
      });
      const agent = new Agent(server.url, 'rewritten-arguments').says('Do the task.');
      // Messages has arguments as an object: JavaScript reads 30.0 and writes 30.
      await agent.turn({ dialect: 'messages', stream: true });
      await agent.turn({ dialect: 'messages', stream: true });
      return server.manifest('rewritten-arguments');
    };
    const [theirs, ledger] = await Promise.all([run(released), run(ours)]);
    assert.deepEqual(reasons(ledger), []);
    assert.equal(ledger.manifest.records[1]?.parent_call_id, ledger.manifest.records[0]?.model_call_id);
    assert.deepEqual(reasons(theirs), ['unresolved_parent']);
  });

  for (const dialect of DIALECTS) {
    test(`two calls with the same answer text: ${dialect}`, async () => {
      const attempt = `same-text-${dialect}`;
      const run = async (server: Contender) => {
        server.worker.script({ answers: [{ content: 'OK' }, { content: 'OK' }] });
        const [title, task] = [new Agent(server.url, attempt), new Agent(server.url, attempt)];
        await title.says('Give this a title.').turn({ dialect });
        await task.says('Do the task.').turn({ dialect });
        await task.says('Go on.').turn({ dialect });
        return server.manifest(attempt);
      };
      const [theirs, ledger] = await Promise.all([run(released), run(ours)]);
      assert.deepEqual(reasons(ledger), []);
      assert.equal(ledger.manifest.records[2]?.parent_call_id, ledger.manifest.records[1]?.model_call_id);
      assert.equal(theirs.manifest.records.length, 2);
      assert.deepEqual(reasons(theirs), ['unresolved_parent']);
    });

    test(`a sample of which there are two: ${dialect}`, async () => {
      const attempt = `twins-${dialect}`;
      const run = async (server: Contender) => {
        server.worker.script({ answers: [{ content: 'OK' }, { content: 'OK' }] });
        const agent = new Agent(server.url, attempt).says('Do the task.');
        await agent.answer({ dialect });
        await agent.turn({ dialect });
        await agent.says('Go on.').turn({ dialect });
        return server.manifest(attempt);
      };
      const [theirs, ledger] = await Promise.all([run(released), run(ours)]);
      assert.deepEqual(reasons(ledger), []);
      assert.equal(ledger.manifest.records[2]?.parent_call_id, ledger.manifest.records[1]?.model_call_id);
      assert.deepEqual(reasons(theirs), ['unresolved_parent']);
    });

    test(`a message put in before the last answer: ${dialect}`, async () => {
      const attempt = `inserted-${dialect}`;
      const run = async (server: Contender) => {
        const agent = new Agent(server.url, attempt).says('Do the task.');
        await agent.turn({ dialect });
        agent.history.splice(1, 0, { by: 'user', text: 'By the way, mind this.' });
        await agent.says('Go on.').turn({ dialect });
        return server.manifest(attempt);
      };
      const [theirs, ledger] = await Promise.all([run(released), run(ours)]);
      assert.equal(ledger.manifest.records.length, 1);
      assert.deepEqual(reasons(ledger), ['unresolved_parent']);
      // There it becomes a continuation, whose row lacks the message that the model had read.
      assert.equal(theirs.manifest.records[1]?.parent_call_id, theirs.manifest.records[0]?.model_call_id);
    });
  }
});

function post(
  server: Contender,
  attempt: string,
  dialect: Dialect,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(server.url + capturePath(attempt, dialect), { method: 'POST', headers, body, signal });
}

/** Waits for a failure row, or for a second: sometimes there is none. */
async function noticed(server: Contender, attempt: string): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    if ((await server.manifest(attempt)).manifest.failures.length > 0) return;
    await sleep(20);
  }
}

/** The manifest once it has so many records; a call whose client is gone commits when its worker has answered. */
async function settled(server: Contender, attempt: string, records: number): ReturnType<Contender['manifest']> {
  for (let tries = 0; tries < 500; tries++) {
    const read = await server.manifest(attempt);
    if (read.manifest.records.length >= records) return read;
    await sleep(20);
  }
  return assert.fail(`no ${records} records in ${attempt}`);
}
