import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { pino } from 'pino';
import { loadConfig } from '../../config/load.ts';
import { type RunningReferenceWorker, startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { DURABLE, type RedisServer, startRedis } from '../support/redis-server.ts';
import { eventually, startServe } from '../support/serve-process.ts';
import { CONTROL_TOKEN, type Reply, send } from '../support/stack.ts';

/** Two replicas on one Redis are one service: whatever began at one goes on at the other. */

const WITHOUT = 'request_finished_without_staged_coordinates';
const FORMS = {
  chat: {
    route: 'chat/completions',
    body: (turns: readonly unknown[]) => ({ model: 'policy', messages: turns }),
    echo: (reply: Reply) => [reply.json.choices[0].message],
  },
  responses: {
    route: 'responses',
    body: (turns: readonly unknown[]) => ({ model: 'policy', input: turns }),
    echo: (reply: Reply) => reply.json.output,
  },
  messages: {
    route: 'messages',
    body: (turns: readonly unknown[]) => ({ model: 'policy', max_tokens: 99, messages: turns }),
    echo: (reply: Reply) => [{ role: 'assistant', content: reply.json.content }],
  },
} as const;
type Form = (typeof FORMS)[keyof typeof FORMS];
const user = (content: string) => ({ role: 'user', content });

describe('two replicas on one Redis', () => {
  let redis: RedisServer;
  let worker: RunningReferenceWorker;
  let one: RunningServer;
  let two: RunningServer;
  let attempts = 0;
  let attempt: string;
  const config = () => ({
    workers: worker.url,
    'ledger.url': redis.url,
    'ledger.lease_s': '1',
    'control.token': CONTROL_TOKEN,
    'server.port': '0',
    'deadlines.drain_s': '2',
  });
  before(async () => {
    redis = await startRedis({ args: DURABLE });
    worker = await startReferenceWorker();
    const start = () => startServer(loadConfig({ flags: config() }), { log: pino({ level: 'silent' }) });
    [one, two] = [await start(), await start()];
  });
  beforeEach(() => {
    attempts += 1;
    attempt = `shared-${attempts}`;
  });
  after(async () => {
    await one.stop();
    await two.stop();
    await worker.close();
    await redis.stop();
  });

  const ask = (at: { url: string }, form: Form, turns: readonly unknown[], headers: Record<string, string> = {}) =>
    send('POST', `${at.url}/ng-rollout/${attempt}/v1/${form.route}`, form.body(turns), headers);
  const control = (at: { url: string }, method: 'GET' | 'POST', path: string) =>
    send(method, at.url + path, undefined, { authorization: `Bearer ${CONTROL_TOKEN}` });
  const ledger = async (at: { url: string }) => (await control(at, 'GET', `/ledger/${attempt}`)).json;

  /** Sends a request and hangs up once the worker has it. */
  async function hangUp(at: { url: string }, form: Form, turns: readonly unknown[]): Promise<void> {
    worker.arm({ kind: 'hold' });
    const call = httpRequest(`${at.url}/ng-rollout/${attempt}/v1/${form.route}`, { method: 'POST' });
    call.on('error', () => undefined);
    call.end(JSON.stringify(form.body(turns)));
    await worker.whenHeld(1);
    call.destroy();
  }

  for (const [name, form] of Object.entries(FORMS)) {
    test(`${name}: a call through one continues a call through the other`, async () => {
      const first = await ask(one, form, [user('task')]);
      const second = await ask(two, form, [user('task'), ...form.echo(first), user('go on')]);
      const third = await ask(one, form, [
        user('task'),
        ...form.echo(first),
        user('go on'),
        ...form.echo(second),
        user('and on'),
      ]);
      assert.deepEqual([first.status, second.status, third.status], [200, 200, 200]);
      const { manifest, why_root } = await ledger(two);
      const ids = manifest.records.map((record: { model_call_id: string }) => record.model_call_id);
      assert.deepEqual(
        manifest.records.map((record: { parent_call_id: string | null }) => record.parent_call_id),
        [null, ids[0], ids[1]],
      );
      assert.deepEqual(Object.keys(why_root), [ids[0]]);
      assert.deepEqual(await ledger(one), await ledger(two));
    });

    test(`${name}: an Idempotency-Key gives the same bytes at both, and one call`, async () => {
      const headers = { 'idempotency-key': 'k' };
      const here = await ask(one, form, [user('task')], headers);
      const there = await ask(two, form, [user('task')], headers);
      assert.equal(there.text, here.text);
      assert.equal(there.headers.get('x-request-id'), here.headers.get('x-request-id'));
      assert.equal((await ask(two, form, [user('other')], headers)).status, 400);
      assert.equal((await ledger(one)).manifest.records.length, 1);
    });

    test(`${name}: a re-send after a hang-up joins the call that runs at the other`, async () => {
      await hangUp(one, form, [user('task')]);
      await eventually(
        async () => (await send('GET', `${one.url}/metrics`)).text,
        (text) => text.includes(`gym_proxy_clients_gone_total ${name === 'chat' ? 1 : name === 'responses' ? 2 : 3}`),
      );
      const again = ask(two, form, [user('task')]);
      await eventually(
        async () => (await send('GET', `${two.url}/metrics`)).text,
        (text) => /gym_proxy_joins_total\{state="elsewhere"\} [1-9]/.test(text),
      );
      worker.release();
      const reply = await again;
      assert.equal(reply.status, 200);
      assert.match(reply.text, /Echo of message 1: task/);
      const { manifest } = await ledger(two);
      assert.deepEqual([manifest.attempted_call_ids.length, manifest.records.length], [1, 1]);
      assert.equal(manifest.records[0].response_id, reply.json.id);
    });
  }

  test('close at one waits for the call that runs at the other, and shows its record', async () => {
    worker.arm({ kind: 'hold' });
    const call = ask(one, FORMS.chat, [user('task')]);
    await worker.whenHeld(1);
    const atOnce = (await control(two, 'POST', `/ledger/${attempt}/close?wait_s=0`)).json;
    assert.deepEqual([atOnce.state, atOnce.complete, atOnce.manifest.pending_call_ids.length], ['closed', false, 1]);
    const refused = await ask(one, FORMS.chat, [user('late')]);
    assert.deepEqual([refused.status, refused.json.error.code], [410, 'attempt_closed']);
    const closing = control(two, 'POST', `/ledger/${attempt}/close?wait_s=60`);
    worker.release();
    const closed = (await closing).json;
    assert.equal((await call).status, 200);
    assert.deepEqual([closed.complete, closed.manifest.records.length], [true, 1]);
  });

  test('retired at one: the record of the call that runs at the other is dropped, and its agent is told', async () => {
    worker.arm({ kind: 'hold' });
    const call = ask(one, FORMS.chat, [user('task')]);
    await worker.whenHeld(1);
    await send(
      'POST',
      `${two.url}/ledger/retire`,
      { capture_keys: [attempt] },
      { authorization: `Bearer ${CONTROL_TOKEN}` },
    );
    worker.release();
    const reply = await call;
    assert.deepEqual([reply.status, reply.json.error.code], [410, 'attempt_retired']);
    assert.equal((await control(one, 'GET', `/ledger/${attempt}`)).status, 410);
  });

  test('deleted at one and used again: the late record of the old life at the other does not enter the new one', async () => {
    worker.arm({ kind: 'hold' });
    const call = ask(one, FORMS.chat, [user('old')]);
    await worker.whenHeld(1);
    await send(
      'POST',
      `${two.url}/ledger/delete`,
      { capture_keys: [attempt] },
      { authorization: `Bearer ${CONTROL_TOKEN}` },
    );
    const fresh = await ask(two, FORMS.chat, [user('new')]);
    worker.release();
    assert.equal((await call).status, 410);
    const { manifest } = await ledger(one);
    assert.deepEqual(
      manifest.records.map((record: { response_id: string }) => record.response_id),
      [fresh.json.id],
    );
    assert.deepEqual([manifest.attempted_call_ids.length, manifest.pending_call_ids, manifest.failures], [1, [], []]);
  });

  test('the survivor settles what a killed one left once its lease has run out; its late answer is nobody’s', async () => {
    const { 'control.token': _, ...flags } = config();
    const doomed = await startServe({ config: flags });
    worker.arm({ kind: 'hold' });
    const call = assert.rejects(ask(doomed, FORMS.chat, [user('task')]));
    await worker.whenHeld(1);
    doomed.kill('SIGKILL');
    await call;
    const { manifest } = await eventually(
      () => ledger(two),
      (now) => now.manifest.failures.length === 1,
    );
    const [callId] = manifest.attempted_call_ids;
    assert.deepEqual(manifest.failures, [{ schema_version: 3, model_call_id: callId, reason: WITHOUT }]);
    assert.deepEqual([manifest.pending_call_ids, manifest.records], [[callId], []]);
    // A call that has a failure row is not joined: its repeat is a new call.
    assert.equal((await ask(two, FORMS.chat, [user('task')])).status, 200);
    worker.release();
    const closed = (await control(one, 'POST', `/ledger/${attempt}/close?wait_s=3600`)).json;
    assert.deepEqual(
      [closed.complete, closed.manifest.records.length, closed.manifest.pending_call_ids],
      [false, 1, [callId]],
    );
  });
});
