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

test('limits.answer_bytes: a larger answer is given up with 502 and a failure row, a larger stream breaks off; the worker stays in use', async () => {
  const stack = await startStack({ config: { 'limits.answer_bytes': '4096' } });
  const large = { kind: 'status', status: 200, body: `{"id":"${'x'.repeat(5_000)}"}` } as const;
  stack.worker.arm(large);
  const reply = await stack.post(url('large'), CHAT);
  assert.deepEqual([reply.status, reply.json.error.code], [502, 'capture_failed']);
  const { manifest } = (await stack.control('GET', '/ledger/large')).json;
  assert.deepEqual(
    manifest.failures.map(({ reason }: { reason: string }) => reason),
    ['request_finished_without_staged_coordinates'],
  );
  stack.worker.script({ answers: [{ content: 'word '.repeat(2_000) }] });
  const streamed = await stack.post('/v1/chat/completions', { ...CHAT, stream: true });
  assert.equal(streamed.status, 200);
  assert.ok(streamed.text.length < 2 * 4096, String(streamed.text.length));
  assert.doesNotMatch(streamed.text, /\[DONE\]/);
  assert.equal((await stack.post(url('small'), CHAT)).status, 200);
  await stack.close();
});
