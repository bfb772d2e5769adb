import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pino } from 'pino';
import { ready } from '../../routes/operations/openapi/replies.ts';
import { mintAgentKey } from '../../src/access.ts';
import { buildMetrics } from '../../src/metrics.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** What operators and people who compare logs look at. */

const say = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };

describe('operations', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.close());

  test('replies of admitted calls carry the id of the call in x-request-id, failed ones and re-sends too', async () => {
    const recorded = async () => (await stack.control('GET', '/ledger/named')).json.manifest;
    const first = await stack.post('/ng-rollout/named/v1/chat/completions', say, { 'idempotency-key': 'k' });
    assert.equal(first.headers.get('x-request-id'), (await recorded()).records[0].model_call_id);
    const again = await stack.post('/ng-rollout/named/v1/chat/completions', say, { 'idempotency-key': 'k' });
    assert.equal(again.headers.get('x-request-id'), first.headers.get('x-request-id'));
    assert.equal((await recorded()).records.length, 1);
    stack.worker.arm({ kind: 'capture_failed' });
    const failed = await stack.post('/ng-rollout/named/v1/messages', { ...say, max_tokens: 9 });
    assert.equal(failed.status, 502);
    assert.equal(failed.headers.get('x-request-id'), (await recorded()).failures[0].model_call_id);
    const streamed = await stack.post('/ng-rollout/named/v1/responses', { model: 'policy', input: 'x', stream: true });
    assert.equal(streamed.headers.get('x-request-id'), (await recorded()).records[1].model_call_id);
    assert.match((await stack.post('/v1/chat/completions', say)).headers.get('x-request-id') ?? '', /^[0-9a-f]{32}$/);
  });

  test('a worker that never failed has a series', async () => {
    const { text } = await stack.get('/metrics');
    assert.ok(text.includes(`gym_proxy_worker_up{worker="${stack.worker.url}"} 1\n`));
  });

  test('members that stand in no list are counted, once per request', async () => {
    const path = '/ng-rollout/unknown-members/v1/chat/completions';
    await stack.post(path, { ...say, not_a_field: 1, nor_this: 2 });
    await stack.post(path, { ...say, metadata: {} });
    const { text } = await stack.get('/metrics');
    assert.ok(text.includes('gym_proxy_ignored_fields_total{dialect="chat"} 1\n'));
  });

  test('what is refused before anything is read is counted and told, too', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info', base: null }, { write: (line: string) => lines.push(line) });
    const guarded = await startStack({
      config: { 'agents.key_secret': 'secret-of-sixteen-chars', 'limits.body_bytes': '1024' },
      overrides: { log },
    });
    const key = mintAgentKey('secret-of-sixteen-chars', 'a');
    const chat = '/ng-rollout/a/v1/chat/completions';
    assert.equal((await guarded.post(chat, say)).status, 401);
    assert.equal(
      (await guarded.post('/ng-rollout/a/v1/messages', say, { authorization: `Bearer ${key}x` })).status,
      401,
    );
    const large = { ...say, user: 'x'.repeat(2000) };
    assert.equal((await guarded.post(chat, large, { authorization: `Bearer ${key}` })).status, 413);
    assert.equal((await guarded.post('/v1/nothing', say)).status, 404);
    assert.equal((await guarded.get('/ledger/a', { authorization: 'Bearer wrong' })).status, 401);
    const { text } = await guarded.get('/metrics');
    for (const [code, count] of [
      ['unauthorized', 3],
      ['body_too_large', 1],
      ['not_found', 1],
    ])
      assert.ok(text.includes(`gym_proxy_refusals_total{code="${code}"} ${count}\n`), `${code} ${count}`);
    const told = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request refused');
    assert.deepEqual(
      told.map(({ attempt, dialect, code }) => [attempt, dialect, code]),
      [
        ['a', 'chat', 'unauthorized'],
        ['a', 'messages', 'unauthorized'],
        ['a', 'chat', 'body_too_large'],
        [null, 'chat', 'not_found'],
        ['a', 'chat', 'unauthorized'],
      ],
    );
    await guarded.close();
  });

  test('what dead replicas left counts among the failure rows', async () => {
    stack.proxy.ctx.events.swept(['a-dead-replica'], 2);
    stack.proxy.ctx.events.swept(['another'], 0);
    const { text } = await stack.get('/metrics');
    assert.ok(text.includes('gym_proxy_orphaned_calls_total 2\n'));
    assert.ok(
      text.includes('gym_proxy_failures_total{reason="request_finished_without_staged_coordinates"} 2\n'),
      text,
    );
  });

  test('the gauges of the ledger are of one look, that of their scrape', async () => {
    let looks = 0;
    const { registry } = buildMetrics(
      async () => {
        looks += 1;
        return {
          openAttempts: looks,
          pendingCalls: 10 * looks,
          oldestPendingS: 100 - looks,
          keptReplyBytes: 1000 * looks,
        };
      },
      () => 100,
    );
    for (const look of [1, 2]) {
      const text = await registry.metrics();
      for (const [name, value] of Object.entries({
        open_attempts: look,
        pending_calls: 10 * look,
        oldest_pending_call_age_seconds: look,
        kept_reply_bytes: 1000 * look,
      }))
        assert.ok(text.includes(`gym_proxy_${name} ${value}\n`), `${name} ${value}`);
    }
    assert.equal(looks, 2);
  });

  test('a worker that never answered makes nobody ready', async () => {
    const alone = await startStack({ config: { workers: 'http://127.0.0.1:9' } });
    assert.deepEqual((await alone.get('/health/ready')).json, {
      status: 'unavailable',
      ledger: 'ok',
      workers: 'no worker can be reached',
    });
    assert.match((await alone.get('/metrics')).text, /gym_proxy_worker_up\{worker="http:\/\/127.0.0.1:9"\} 0\n/);
    await alone.close();
  });

  test('readiness is refused while the process stops, in the described form', async () => {
    assert.deepEqual((await stack.get('/health/ready')).json, { status: 'ok', ledger: 'ok', workers: 'ok' });
    stack.proxy.ctx.lifecycle.draining = true;
    const stopping = await stack.get('/health/ready');
    assert.equal(stopping.status, 503);
    assert.deepEqual(ready.parse(stopping.json), { status: 'stopping' });
    assert.equal((await stack.get('/health/live')).status, 200);
    stack.proxy.ctx.lifecycle.draining = false;
  });
});
