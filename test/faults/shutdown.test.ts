import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type RunningReferenceWorker, startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { freePort } from '../support/ports.ts';
import { startRedis } from '../support/redis-server.ts';
import { eventually, MAIN, ServeFailed, type ServeProcess, startServe } from '../support/serve-process.ts';
import { CONTROL_TOKEN, send } from '../support/stack.ts';

/** A process that is told to stop (SIGTERM): calls in flight are finished, for a while; nothing is lost. */

const CHAT = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };
const WITHOUT = 'request_finished_without_staged_coordinates';

describe('SIGTERM', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gym-proxy-shutdown-'));
  let worker: RunningReferenceWorker;
  let attempts = 0;
  let attempt: string;
  let path: string;
  before(async () => {
    worker = await startReferenceWorker();
  });
  beforeEach(() => {
    attempts += 1;
    attempt = `stop-${attempts}`;
    path = `/ng-rollout/${attempt}/v1/chat/completions`;
  });
  after(async () => {
    await worker.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const serve = (config: Record<string, string> = {}): Promise<ServeProcess> =>
    startServe({ config: { workers: worker.url, 'ledger.url': `sqlite:${join(folder, 'ledger.db')}`, ...config } });
  const isStopping = (proxy: ServeProcess) =>
    eventually(
      () => send('GET', `${proxy.url}/health/ready`),
      (ready) => ready.status === 503,
    );
  /** A process that was told to stop while the worker holds a call of its. */
  async function stoppingWithCall(): Promise<{ proxy: ServeProcess; call: ReturnType<ServeProcess['post']> }> {
    const proxy = await serve();
    worker.arm({ kind: 'hold' });
    const call = proxy.post(path, CHAT);
    await worker.whenHeld(1);
    proxy.kill('SIGTERM');
    await isStopping(proxy);
    return { proxy, call };
  }

  test('a trainer that waits in close gets the ledger before the process ends', async () => {
    for (const [drainS, complete] of [
      ['60', true],
      ['1', false],
    ] as const) {
      const proxy = await serve({ 'deadlines.drain_s': drainS });
      const name = `${attempt}-${drainS}`;
      worker.arm({ kind: 'hold' });
      const call = proxy.post(`/ng-rollout/${name}/v1/chat/completions`, CHAT).catch((error: unknown) => error);
      await worker.whenHeld(1);
      const closed = proxy.control('POST', `/ledger/${name}/close?wait_s=300`);
      await eventually(
        () => proxy.control('GET', `/ledger/${name}`),
        ({ json }) => json.state === 'closed',
      );
      proxy.kill('SIGTERM');
      await isStopping(proxy);
      if (complete) worker.release();
      const { status, json } = await closed;
      assert.deepEqual([status, json.complete, json.manifest.records.length], [200, complete, complete ? 1 : 0]);
      assert.equal(await proxy.exited, 0);
      if (!complete) worker.release();
      await call;
    }
  });

  test('the same signal by two ways is one: calls are finished; one that comes later ends the process at once', async () => {
    const { proxy, call } = await stoppingWithCall();
    proxy.kill('SIGTERM');
    proxy.kill('SIGINT');
    worker.release();
    assert.equal((await call).status, 200);
    assert.equal(await proxy.exited, 0);

    const { proxy: impatient, call: cut } = await stoppingWithCall();
    const lost = cut.catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    impatient.kill('SIGTERM');
    assert.equal(await impatient.exited, 1);
    assert.equal(impatient.log.at(-1)?.msg, 'second SIGTERM, exiting');
    worker.release();
    await lost;
  });

  test('a log that cannot be written costs log lines, nothing else', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { ...process.env, GYM_PROXY_CONTROL_TOKEN: CONTROL_TOKEN, GYM_PROXY_WORKERS: worker.url };
    const command = `exec "${process.execPath}" "${MAIN}" serve --server-port ${port} --ledger-url "sqlite:${join(folder, 'full.db')}" >/dev/full`;
    const child = spawn('sh', ['-c', command], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const exited = once(child, 'exit');
    await eventually(
      () =>
        send('GET', `${url}/health/live`).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
    );
    for (let at = 0; at < 20; at++) assert.equal((await send('POST', url + path, { model: 5 })).status, 400);
    assert.equal((await send('POST', url + path, CHAT)).status, 200);
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  });

  test('a ledger that cannot be reached does not keep the process from ending by itself', async () => {
    const redis = await startRedis({});
    const proxy = await serve({ 'ledger.url': redis.url, 'deadlines.drain_s': '1' });
    worker.arm({ kind: 'hold' });
    const call = proxy.post(path, CHAT).catch((error: unknown) => error);
    await worker.whenHeld(1);
    process.kill(redis.pid, 'SIGSTOP');
    proxy.kill('SIGTERM');
    assert.equal(await proxy.exited, 0);
    process.kill(redis.pid, 'SIGCONT');
    worker.release();
    await call;
    await redis.stop();
  });

  test('a control port that is taken ends the process, which says so in words', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const failed = await serve({ 'control.port': String(port) }).catch((error: unknown) => error);
    assert.ok(failed instanceof ServeFailed);
    assert.equal(failed.code, 1);
    assert.match(failed.output, /gym-model-proxy: listen EADDRINUSE: address already in use 127\.0\.0\.1:\d+\n/);
    assert.doesNotMatch(failed.output, /\n {4}at /);
    taken.close();
  });

  test('a call in flight is finished and recorded; new ones get 503; then the process ends', async () => {
    const { proxy, call } = await stoppingWithCall();

    const inferences = worker.log().length;
    for (const [route, body] of [
      ['chat/completions', CHAT],
      ['responses', { model: 'policy', input: 'hello' }],
      ['messages', { ...CHAT, max_tokens: 9 }],
    ] as const) {
      const refused = await proxy.post(`/ng-rollout/${attempt}/v1/${route}`, body);
      assert.equal(refused.status, 503, refused.text);
      assert.match(refused.text, /shutting_down/);
      assert.equal(refused.headers.get('retry-after'), '2');
      assert.equal(refused.headers.get('x-should-retry'), null);
      assert.equal(refused.headers.get('connection'), 'close');
    }
    assert.equal(worker.log().length, inferences);
    const during = await proxy.control('GET', `/ledger/${attempt}`);
    assert.equal(during.json.manifest.pending_call_ids.length, 1);

    worker.release();
    const reply = await call;
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('connection'), 'close');
    assert.equal(await proxy.exited, 0);

    const next = await serve();
    const { manifest } = (await next.control('GET', `/ledger/${attempt}`)).json;
    assert.equal(manifest.records[0].response_id, reply.json.id);
    assert.deepEqual([manifest.records.length, manifest.pending_call_ids, manifest.failures], [1, [], []]);
    next.kill('SIGTERM');
    assert.equal(await next.exited, 0);
  });

  test('what outlasts deadlines.drain_s stays pending, and the next start adds its failure row', async () => {
    const proxy = await serve({ 'deadlines.drain_s': '0.5' });
    worker.arm({ kind: 'hold' });
    const call = assert.rejects(proxy.post(path, CHAT));
    await worker.whenHeld(1);
    proxy.kill('SIGTERM');
    assert.equal(await proxy.exited, 0);
    await call;
    assert.ok(proxy.log.some(({ msg }) => msg === 'calls were still running; they stay pending'));

    const next = await serve();
    const { manifest } = (await next.control('GET', `/ledger/${attempt}`)).json;
    const [callId] = manifest.attempted_call_ids;
    assert.deepEqual(manifest.pending_call_ids, [callId]);
    assert.deepEqual(manifest.records, []);
    assert.deepEqual(manifest.failures, [{ schema_version: 3, model_call_id: callId, reason: WITHOUT }]);
    // Nobody waits for it: the close is answered at once.
    const closed = await next.control('POST', `/ledger/${attempt}/close?wait_s=3600`);
    assert.equal(closed.json.complete, false);
    worker.release();
    next.kill('SIGTERM');
    assert.equal(await next.exited, 0);
  });

  test('connections that clients keep are closed: idle ones at once, others with their reply', async () => {
    const proxy = await serve();
    /** A request on a connection of its own, which it keeps; `closed` resolves when that is closed. */
    const ask = (url: string, body?: object) => {
      const agent = new HttpAgent({ keepAlive: true });
      const call = httpRequest(url, { agent, method: body === undefined ? 'GET' : 'POST' });
      const closed = once(call, 'socket').then(([socket]) => once(socket as Socket, 'close'));
      const reply = once(call, 'response').then(async ([message]) => {
        await once((message as IncomingMessage).resume(), 'end');
        return message as IncomingMessage;
      });
      call.end(body === undefined ? undefined : JSON.stringify(body));
      return { closed, reply };
    };
    const idle = ask(`${proxy.url}/health/live`);
    await idle.reply;
    worker.arm({ kind: 'hold' });
    const held = ask(proxy.url + path, { ...CHAT, stream: true });
    await worker.whenHeld(1);
    proxy.kill('SIGTERM');
    await idle.closed;
    worker.release();
    assert.equal((await held.reply).headers.connection, 'close');
    await held.closed;
    assert.equal(await proxy.exited, 0);
  });

  test('a call whose agent has left is finished all the same', async () => {
    const proxy = await serve();
    worker.arm({ kind: 'hold' });
    const call = httpRequest(proxy.url + path, { method: 'POST' });
    call.on('error', () => undefined);
    call.end(JSON.stringify(CHAT));
    await worker.whenHeld(1);
    call.destroy();
    proxy.kill('SIGTERM');
    await isStopping(proxy);
    worker.release();
    assert.equal(await proxy.exited, 0);
    const next = await serve();
    const { manifest } = (await next.control('GET', `/ledger/${attempt}`)).json;
    assert.deepEqual([manifest.records.length, manifest.pending_call_ids, manifest.failures], [1, [], []]);
    next.kill('SIGTERM');
    assert.equal(await next.exited, 0);
  });
});
