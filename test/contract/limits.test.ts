import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStack } from '../support/stack.ts';

const CHAT = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };
const url = (attempt: string) => `/ng-rollout/${attempt}/v1/chat/completions`;

test('limits.concurrent_calls: exactly so many calls at once, the next one 429 with Retry-After, before any intent', async () => {
  const stack = await startStack({ config: { 'limits.concurrent_calls': '3' } });
  stack.worker.arm({ kind: 'hold', times: 3 });
  const held = [0, 1, 2].map((at) => stack.post(url(`busy-${at}`), CHAT));
  await stack.worker.whenHeld(3);
  const refused = await stack.post(url('busy-3'), CHAT);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '2');
  assert.equal(refused.headers.get('x-should-retry'), null);
  assert.equal(refused.json.error.code, 'rate_limit_exceeded');
  stack.worker.release();
  assert.deepEqual(
    (await Promise.all(held)).map((reply) => reply.status),
    [200, 200, 200],
  );
  assert.deepEqual((await stack.control('GET', '/ledger/busy-3')).json.manifest.attempted_call_ids, []);
  assert.equal((await stack.post(url('busy-3'), CHAT)).status, 200);
  await stack.close();
});

test('limits.calls_per_attempt: the next one 400, before any intent', async () => {
  const stack = await startStack({ config: { 'limits.calls_per_attempt': '2' } });
  for (let at = 0; at < 2; at++) assert.equal((await stack.post(url('many'), CHAT)).status, 200);
  const refused = await stack.post(url('many'), CHAT);
  assert.equal(refused.status, 400);
  assert.equal(refused.json.error.code, 'too_many_calls');
  assert.equal((await stack.control('GET', '/ledger/many')).json.manifest.attempted_call_ids.length, 2);
  await stack.close();
});

test('a re-send that joined a call waits no longer than its own deadline', async () => {
  const stack = await startStack({ config: { 'deadlines.call_s': '0.4', 'deadlines.drain_s': '1' } });
  stack.worker.arm({ kind: 'hold' });
  const headers = { 'idempotency-key': 'k' };
  const first = stack.post(url('slow'), CHAT, headers);
  await stack.worker.whenHeld(1);
  const joined = await stack.post(url('slow'), CHAT, headers);
  assert.equal(joined.status, 504);
  assert.equal(joined.json.error.code, 'deadline_exceeded');
  assert.equal((await first).status, 504);
  assert.equal((await stack.control('GET', '/ledger/slow')).json.manifest.attempted_call_ids.length, 1);
  stack.worker.release();
  await stack.close();
});
