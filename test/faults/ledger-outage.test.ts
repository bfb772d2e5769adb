import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { DURABLE, type RedisServer, startRedis } from '../support/redis-server.ts';
import { eventually } from '../support/serve-process.ts';
import { type Reply, type Stack, startStack } from '../support/stack.ts';

/** Redis is away: no inference goes unrecorded, and nothing that was begun is forgotten (issue: "A ledger outage"). */

const turn = { role: 'user', content: 'hello' };
const ROUTES = [
  ['chat/completions', { model: 'policy', messages: [turn] }],
  ['responses', { model: 'policy', input: [turn] }],
  ['messages', { model: 'policy', max_tokens: 9, messages: [turn] }],
] as const;
const [[CHAT_ROUTE, CHAT]] = ROUTES;
const WITHOUT = 'request_finished_without_staged_coordinates';

describe('Redis is killed', () => {
  let redis: RedisServer;
  let stack: Stack;
  let attempts = 0;
  let attempt: string;
  before(async () => {
    redis = await startRedis({ args: DURABLE });
    stack = await startImpatient('one', { 'ledger.commit_retry_s': '3', 'sse.grace_s': '0.1' });
  });
  beforeEach(() => {
    attempts += 1;
    attempt = `outage-${attempts}`;
  });
  after(async () => {
    await stack.close();
    await redis.stop();
  });

  /** A stack whose ledger gives an operation up after a second, so that these tests do not wait for the usual eight. */
  async function startImpatient(replica: string, config: Record<string, string>): Promise<Stack> {
    const ledger = await openLedger({
      url: redis.url,
      replica,
      now: () => Date.now() / 1000,
      leaseS: 1,
      abandonedAfterS: null,
      replies: { keepBytes: 1_000_000, keepS: 60 },
      operationTimeoutMs: 1_000,
    });
    return startStack({ config: { 'ledger.lease_s': '1', ...config }, overrides: { ledger, replica } });
  }

  const ask = (route: string, body: object, of = attempt): Promise<Reply> =>
    stack.post(`/ng-rollout/${of}/v1/${route}`, body);
  const ledger = async (of = attempt) => (await stack.control('GET', `/ledger/${of}`)).json;
  /** Sends a call, and kills Redis while the worker has it. */
  async function killDuring(body: object): Promise<{ readonly call: Promise<Reply> }> {
    stack.worker.arm({ kind: 'hold' });
    const call = ask(CHAT_ROUTE, body);
    await stack.worker.whenHeld(1);
    await redis.kill9();
    return { call };
  }

  test('calls are refused before the worker with 503 and Retry-After, in every dialect, streams too; then they work again', async () => {
    await redis.kill9();
    const inferences = stack.worker.log().length;
    const refused = await Promise.all(
      ROUTES.flatMap(([route, body]) => [ask(route, body), ask(route, { ...body, stream: true })]),
    );
    for (const reply of refused) {
      assert.equal(reply.status, 503, reply.text);
      assert.match(reply.text, /ledger_unavailable/);
      assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      assert.equal(reply.headers.get('x-should-retry'), null);
    }
    assert.equal(stack.worker.log().length, inferences);

    const [read, closed, ready, metrics] = await Promise.all([
      stack.control('GET', `/ledger/${attempt}`),
      stack.control('POST', `/ledger/${attempt}/close?wait_s=0`),
      stack.get('/health/ready'),
      stack.get('/metrics'),
    ]);
    assert.deepEqual([read.status, read.headers.get('retry-after')], [503, '2']);
    assert.deepEqual([closed.status, closed.headers.get('retry-after')], [503, '2']);
    assert.equal(ready.status, 503);
    // What an operator needs most now.
    assert.equal(metrics.status, 200);
    assert.match(metrics.text, /gym_proxy_refusals_total\{code="ledger_unavailable"\} 6/);

    await redis.restart();
    for (const [route, body] of ROUTES) assert.equal((await ask(route, body)).status, 200);
    const { manifest, refused: voided } = await ledger();
    assert.deepEqual([manifest.records.length, manifest.pending_call_ids, voided], [3, [], []]);
  });

  for (const stream of [false, true]) {
    test(`a ${stream ? 'stream' : 'call'} in flight holds its reply until its record is durable`, async () => {
      const { call } = await killDuring({ ...CHAT, stream });
      let isAnswered = false;
      const answered = call.then((reply) => {
        isAnswered = true;
        return reply;
      });
      stack.worker.release();
      await eventually(
        () => stack.worker.log().at(-1)?.event,
        (event) => event === 'acknowledged',
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(isAnswered, false);
      await redis.restart();
      const reply = await answered;
      assert.equal(reply.status, 200);
      assert.match(reply.text, /Echo of message 1: hello/);
      assert.doesNotMatch(reply.text, /"error"/);
      const { manifest } = await ledger();
      assert.deepEqual([manifest.records.length, manifest.pending_call_ids, manifest.failures], [1, [], []]);
      assert.ok(reply.text.includes(manifest.records[0].response_id));
    });
  }

  test('after ledger.commit_retry_s the agent is told, the call is pending, and gets its failure row once Redis is back', async () => {
    const { call } = await killDuring(CHAT);
    stack.worker.release();
    const reply = await call;
    assert.equal(reply.status, 502, reply.text);
    assert.equal(reply.json.error.code, 'commit_failed');
    assert.equal(reply.headers.get('x-should-retry'), 'false');
    await redis.restart();
    const { manifest } = await eventually(ledger, (now) => now?.manifest?.failures.length === 1);
    const [callId] = manifest.attempted_call_ids;
    assert.deepEqual([manifest.records, manifest.pending_call_ids], [[], [callId]]);
    assert.deepEqual(manifest.failures, [{ schema_version: 3, model_call_id: callId, reason: WITHOUT }]);
    // Nobody waits for it any more.
    assert.equal((await stack.control('POST', `/ledger/${attempt}/close?wait_s=3600`)).json.complete, false);
  });

  test('a stream that is open is told by an event of its dialect', async () => {
    const { call } = await killDuring({ ...CHAT, stream: true });
    // The stream opens while the answer is awaited.
    await new Promise((resolve) => setTimeout(resolve, 300));
    stack.worker.release();
    const reply = await call;
    assert.equal(reply.status, 200);
    assert.match(reply.text, /^: waiting\n/);
    assert.match(reply.text, /data: \{"error":\{.*"code":"commit_failed"/);
    assert.doesNotMatch(reply.text, /Echo of/);
    await redis.restart();
    await eventually(ledger, (now) => now?.manifest?.failures.length === 1);
  });

  test('a worker that fails meanwhile: its failure row is owed, and written once Redis is back', async () => {
    stack.worker.arm({ kind: 'lose_acknowledgement', until_released: true });
    const call = ask(CHAT_ROUTE, CHAT);
    await stack.worker.whenHeld(1);
    await redis.kill9();
    stack.worker.release();
    assert.equal((await call).status, 502);
    await redis.restart();
    const { manifest } = await eventually(ledger, (now) => now?.manifest?.failures.length === 1);
    assert.equal(manifest.failures[0].reason, 'worker_response_missing_commit_coordinates');
    assert.equal(manifest.pending_call_ids.length, 1);
  });

  test('no worker can be reached meanwhile: the refusal is owed too', async () => {
    const alone = await startImpatient('two', { 'ledger.commit_retry_s': '0.1' });
    await alone.worker.close();
    const admit = alone.proxy.ctx.ledger.admit.bind(alone.proxy.ctx.ledger);
    alone.proxy.ctx.ledger.admit = async (request) => {
      const outcome = await admit(request);
      await redis.kill9();
      return outcome;
    };
    const reply = await alone.post(`/ng-rollout/${attempt}/v1/${CHAT_ROUTE}`, CHAT);
    assert.deepEqual([reply.status, reply.json.error.code], [503, 'worker_unreachable']);
    await redis.restart();
    const now = await eventually(ledger, (read) => read?.refused?.length === 1);
    assert.equal(now.refused[0].code, 'worker_unreachable');
    assert.deepEqual([now.manifest.pending_call_ids, now.manifest.failures], [[], []]);
    await alone.close();
  });
});
