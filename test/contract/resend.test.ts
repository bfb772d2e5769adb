import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type Reply, type Stack, send, startStack } from '../support/stack.ts';
import { until } from './ledger/builders.ts';

/** What is a re-send, and what is a deliberate sample (design, "Never twice"). */

const turn = { role: 'user', content: 'hello' };
const BODIES = {
  chat: { path: 'chat/completions', body: { model: 'policy', messages: [turn] } },
  responses: { path: 'responses', body: { model: 'policy', input: [turn] } },
  messages: { path: 'messages', body: { model: 'policy', max_tokens: 9, messages: [turn] } },
} as const;
type Dialect = keyof typeof BODIES;

describe('re-sends', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ config: { 'deadlines.drain_s': '2' } });
  });
  after(() => stack.close());

  const url = (attempt: string, dialect: Dialect) =>
    `${stack.proxy.url}/ng-rollout/${attempt}/v1/${BODIES[dialect].path}`;
  const ask = (
    attempt: string,
    dialect: Dialect,
    extra: object = {},
    headers: Record<string, string> = {},
  ): Promise<Reply> => send('POST', url(attempt, dialect), { ...BODIES[dialect].body, ...extra }, headers);
  const ledger = async (attempt: string) => (await stack.control('GET', `/ledger/${attempt}`)).json.manifest;

  /** Sends a request and hangs up before any answer; resolves when the proxy has noticed. */
  async function hangUp(
    attempt: string,
    dialect: Dialect,
    extra: object = {},
    headers: Record<string, string> = {},
    joins = false,
  ): Promise<void> {
    const before = await metric(GONE);
    const noticed = joins
      ? metricAbove('gym_proxy_joins_total', await metric('gym_proxy_joins_total'))
      : stack.worker.whenHeld(1);
    const call = httpRequest(url(attempt, dialect), { method: 'POST', headers });
    call.on('error', () => undefined);
    call.end(JSON.stringify({ ...BODIES[dialect].body, ...extra }));
    await noticed;
    call.destroy();
    await metricAbove(GONE, before);
  }
  const GONE = 'gym_proxy_clients_gone_total';
  /** Sum of a counter over its labels. */
  const metric = async (name: string) =>
    (await stack.get('/metrics')).text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  async function metricAbove(name: string, before: number): Promise<void> {
    for (let tries = 0; (await metric(name)) <= before; tries++) {
      assert.ok(tries < 400, `${name} did not move`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  for (const dialect of Object.keys(BODIES) as Dialect[]) {
    for (const [first, second] of [
      [false, false],
      [true, true],
      [true, false],
      [false, true],
    ] as const) {
      test(`${dialect}: a re-send after a hang-up (stream ${first}) joins the running call (stream ${second})`, async () => {
        const attempt = `join-${dialect}-${first}-${second}`;
        const staged = stack.worker.stagedKeys().length;
        stack.worker.arm({ kind: 'hold' });
        await hangUp(attempt, dialect, { stream: first });
        const again = ask(attempt, dialect, { stream: second });
        await new Promise((resolve) => setTimeout(resolve, 50));
        stack.worker.release();
        const reply = await again;
        assert.equal(reply.status, 200);
        assert.match(reply.text, /Echo of message 1: hello/);
        assert.equal(
          reply.headers.get('content-type')?.startsWith(second ? 'text/event-stream' : 'application/json'),
          true,
        );
        const manifest = await ledger(attempt);
        assert.equal(manifest.attempted_call_ids.length, 1);
        assert.equal(manifest.records.length, 1);
        assert.ok(reply.text.includes(manifest.records[0].response_id));
        assert.equal(stack.worker.stagedKeys().length, staged + 1);
      });
    }

    test(`${dialect}: a re-send after the call finished gets the kept reply, once`, async () => {
      const attempt = `kept-${dialect}`;
      stack.worker.arm({ kind: 'hold' });
      await hangUp(attempt, dialect);
      stack.worker.release();
      await stack.control('POST', `/ledger/${attempt}/close?wait_s=5`);
      const reply = await ask(attempt, dialect);
      assert.equal(reply.status, 200);
      assert.match(reply.text, /Echo of message 1: hello/);
      const closed = await ask(attempt, dialect);
      assert.equal(closed.status, 410);
      assert.equal((await ledger(attempt)).attempted_call_ids.length, 1);
    });

    test(`${dialect}: the same request again after a whole reply is a deliberate sample`, async () => {
      const attempt = `sample-${dialect}`;
      assert.equal((await ask(attempt, dialect)).status, 200);
      assert.equal((await ask(attempt, dialect)).status, 200);
      assert.equal((await ledger(attempt)).records.length, 2);
    });

    test(`${dialect}: the same request beside a client that still waits is a deliberate sample`, async () => {
      const attempt = `parallel-${dialect}`;
      stack.worker.arm({ kind: 'hold' });
      const slow = ask(attempt, dialect);
      await stack.worker.whenHeld(1);
      assert.equal((await ask(attempt, dialect)).status, 200);
      stack.worker.release();
      assert.equal((await slow).status, 200);
      assert.equal((await ledger(attempt)).records.length, 2);
    });

    test(`${dialect}: a retry header alone proves nothing`, async () => {
      const attempt = `header-${dialect}`;
      assert.equal((await ask(attempt, dialect)).status, 200);
      assert.equal((await ask(attempt, dialect, {}, { 'x-stainless-retry-count': '1' })).status, 200);
      assert.equal((await ledger(attempt)).records.length, 2);
    });

    test(`${dialect}: an Idempotency-Key gives the same reply again; another body under it is refused`, async () => {
      const attempt = `key-${dialect}`;
      const headers = { 'idempotency-key': 'k1' };
      const one = await ask(attempt, dialect, {}, headers);
      const two = await ask(attempt, dialect, {}, headers);
      assert.equal(one.text, two.text);
      const other = await ask(attempt, dialect, { temperature: 0.5 }, headers);
      assert.equal(other.status, 400);
      assert.match(other.text, /idempotency_key_reused/);
      assert.equal((await ledger(attempt)).records.length, 1);
    });

    test(`${dialect}: a reply to a pipelined request that was handed over is not claimed again`, async () => {
      const attempt = `pipelined-${dialect}`;
      const { hostname, port } = new URL(stack.proxy.url);
      const socket = connect(Number(port), hostname);
      const request = (extra: object) => {
        const text = JSON.stringify({ ...BODIES[dialect].body, ...extra });
        return `POST ${new URL(url(attempt, dialect)).pathname} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
      };
      stack.worker.arm({ kind: 'hold' });
      socket.write(request({ temperature: 0.1 }) + request({ temperature: 0.2 }));
      await stack.worker.whenHeld(1);
      await until(async () => (await ledger(attempt)).records.length === 1);
      stack.worker.release();
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      await until(async () => text.split('HTTP/1.1 200').length === 3 && text.endsWith('}'));
      socket.destroy();
      assert.equal((await ask(attempt, dialect, { temperature: 0.2 })).status, 200);
      assert.equal((await ledger(attempt)).records.length, 3);
    });

    // The header is of no use on Messages.
    if (dialect !== 'messages')
      test(`${dialect}: a request that names another parent is not the same one`, async () => {
        const attempt = `named-${dialect}`;
        const headers = { 'idempotency-key': 'k3' };
        await ask(attempt, dialect, {}, headers);
        const other = await ask(attempt, dialect, {}, { ...headers, 'x-nemo-gym-capture-parent': 'null' });
        assert.equal(other.status, 400);
        assert.match(other.text, /idempotency_key_reused/);
        stack.worker.arm({ kind: 'hold' });
        await hangUp(attempt, dialect, { temperature: 0.5 });
        const second = await ask(attempt, dialect, { temperature: 0.5 }, { 'x-nemo-gym-capture-parent': 'null' });
        assert.equal(second.status, 200);
        stack.worker.release();
        assert.equal((await ledger(attempt)).attempted_call_ids.length, 3);
      });

    test(`${dialect}: repeating a call that failed is a new call`, async () => {
      const attempt = `failed-${dialect}`;
      const headers = { 'idempotency-key': 'k2' };
      stack.worker.arm({ kind: 'status', status: 500 });
      assert.equal((await ask(attempt, dialect, {}, headers)).status, 502);
      assert.equal((await ask(attempt, dialect, {}, headers)).status, 200);
      const manifest = await ledger(attempt);
      assert.equal(manifest.attempted_call_ids.length, 2);
      assert.equal(manifest.records.length, 1);
    });

    test(`${dialect}: another body, another attempt or another path joins nothing`, async () => {
      const attempt = `other-${dialect}`;
      stack.worker.arm({ kind: 'hold' });
      await hangUp(attempt, dialect);
      assert.equal((await ask(attempt, dialect, { temperature: 0.1 })).status, 200);
      assert.equal((await ask(`${attempt}-b`, dialect)).status, 200);
      assert.equal((await ledger(attempt)).attempted_call_ids.length, 2);
      stack.worker.release();
    });
  }

  test('one hang-up is claimed once: of two re-sends at once, one joins and one runs', async () => {
    stack.worker.arm({ kind: 'hold' });
    await hangUp('twice', 'chat');
    const both = [ask('twice', 'chat'), ask('twice', 'chat')];
    await new Promise((resolve) => setTimeout(resolve, 100));
    stack.worker.release();
    const replies = await Promise.all(both);
    assert.deepEqual(
      replies.map((reply) => reply.status),
      [200, 200],
    );
    assert.equal(new Set(replies.map((reply) => reply.json.id)).size, 2);
    assert.equal((await ledger('twice')).records.length, 2);
  });

  test('the re-sender hangs up too: the next one joins again', async () => {
    stack.worker.arm({ kind: 'hold' });
    await hangUp('again', 'chat');
    await hangUp('again', 'chat', {}, {}, true);
    const third = ask('again', 'chat');
    await new Promise((resolve) => setTimeout(resolve, 50));
    stack.worker.release();
    assert.equal((await third).status, 200);
    assert.equal((await ledger('again')).records.length, 1);
  });

  test('a client that hangs up never cancels the call: its record is committed', async () => {
    stack.worker.arm({ kind: 'hold' });
    await hangUp('left', 'responses');
    stack.worker.release();
    const closed = (await stack.control('POST', '/ledger/left/close?wait_s=5')).json;
    assert.equal(closed.complete, true);
    assert.equal(closed.manifest.records.length, 1);
    assert.deepEqual(closed.manifest.failures, []);
  });
});
