import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ready } from '../../routes/operations/openapi/replies.ts';
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
