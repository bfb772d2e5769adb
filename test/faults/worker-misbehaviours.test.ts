import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { type Reply, type Stack, startStack } from '../support/stack.ts';
import { ROWS, type Row, WITHOUT } from './worker-misbehaviours.ts';

/** Every row of the table of protocol section 6, in the ledger and to the agent, in both generations and all dialects. */

for (const schema of [2, 3] as const) {
  describe(`schema ${schema}`, () => {
    let stack: Stack;
    before(async () => {
      stack = await startStack({ config: { 'capture.schema_version': String(schema) } });
    });
    after(() => stack.close());

    ROWS.forEach((row, at) => {
      for (const dialect of [
        'chat',
        'responses',
        'messages',
        'chat-stream',
        'responses-stream',
        'messages-stream',
      ] as const) {
        test(`${row.name}: ${dialect}`, async () => {
          const attempt = `row-${at}-${dialect}`;
          stack.worker.arm(row.fault);
          const reply = await ask(stack, attempt, dialect);
          stack.worker.clearFaults();
          const status = typeof row.status === 'number' ? row.status : row.status[schema];
          assert.equal(reply.status, status, reply.text);
          if (status !== 200) checkError(row, dialect, reply);
          const { json } = await stack.control('GET', `/ledger/${attempt}`);
          const { manifest } = json;
          const attempted = manifest.attempted_call_ids ?? json.attempted_call_ids;
          const pending = manifest.pending_call_ids ?? json.pending_call_ids;
          assert.equal(attempted.length, row.refused === undefined ? 1 : 0);
          assert.deepEqual(
            manifest.failures.map((failure: { reason: string }) => failure.reason),
            row.failures,
          );
          assert.deepEqual(
            json.refused.map((refused: { code: string }) => refused.code),
            row.refused === undefined ? [] : [row.refused],
          );
          assert.equal(manifest.records.length, row.records ?? 0);
          assert.equal(pending.length, row.pending ?? 1);
        });
      }
    });

    test('a refused connection settles the intent as refused, 503 with Retry-After', async () => {
      const gone = await startReferenceWorker();
      await gone.close();
      const alone = await startStack({ config: { 'capture.schema_version': String(schema), workers: gone.url } });
      const reply = await ask(alone, 'nobody', 'chat');
      assert.equal(reply.status, 503);
      assert.equal(reply.headers.get('retry-after'), '2');
      assert.equal(reply.json.error.code, 'worker_unreachable');
      const { json } = await alone.control('GET', '/ledger/nobody');
      assert.equal(json.refused[0].code, 'worker_unreachable');
      assert.deepEqual(json.manifest.failures, []);
      assert.deepEqual(json.manifest.attempted_call_ids ?? json.attempted_call_ids, []);
      assert.deepEqual(json.manifest.pending_call_ids ?? json.pending_call_ids, []);
      await alone.close();
    });

    test('a refused connection tries the next worker, and the call is captured there', async () => {
      const gone = await startReferenceWorker();
      await gone.close();
      const pair = await startStack({ config: { 'capture.schema_version': String(schema) } });
      const both = await startStack({
        config: { 'capture.schema_version': String(schema), workers: `${gone.url},${pair.worker.url}` },
      });
      for (let at = 0; at < 6; at++) assert.equal((await ask(both, `spread-${at}`, 'chat')).status, 200);
      assert.equal(pair.worker.stagedKeys().length, 6);
      await both.close();
      await pair.close();
    });

    test('after the deadline the agent gets 504, the failure row stands, and the late record is written', async () => {
      const slow = await startStack({
        config: { 'capture.schema_version': String(schema), 'deadlines.call_s': '0.3' },
      });
      slow.worker.arm({ kind: 'hold' });
      const reply = await ask(slow, 'late', 'responses');
      assert.equal(reply.status, 504);
      assert.equal(reply.json.error.code, 'deadline_exceeded');
      assert.equal(reply.headers.get('x-should-retry'), 'false');
      const waiting = (await slow.control('GET', '/ledger/late')).json.manifest;
      assert.deepEqual(
        waiting.failures.map((row: { reason: string }) => row.reason),
        [WITHOUT],
      );
      slow.worker.release();
      const closed = (await slow.control('POST', '/ledger/late/close?wait_s=5')).json;
      assert.equal(closed.manifest.failures.length, 1);
      let { manifest } = closed;
      for (let tries = 0; manifest.records.length === 0 && tries < 100; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        manifest = (await slow.control('GET', '/ledger/late')).json.manifest;
      }
      assert.equal(manifest.records.length, 1);
      assert.equal(manifest.failures.length, 1);
      await slow.close();
    });
  });
}

function checkError(row: Row, dialect: string, reply: Reply): void {
  const messages = dialect.startsWith('messages');
  const { error } = reply.json;
  if (row.code === 'context_length_exceeded') {
    assert.match(error.message, /prompt is too long/);
    assert.match(error.message, /maximum context length/i);
    if (messages) assert.ok(error.message.startsWith('prompt is too long'));
  } else if (row.code !== undefined && messages) assert.ok(error.message.startsWith(`${row.code}: `), error.message);
  if (messages) assert.equal(reply.json.type, 'error');
  else {
    assert.equal(typeof error.code, 'string');
    if (row.code !== undefined) assert.equal(error.code, row.code);
  }
  assert.equal(reply.headers.get('x-should-retry'), row.retry === 'may' ? null : 'false');
  assert.ok(!reply.text.includes('ng_commit'));
}

function ask(stack: Stack, attempt: string, dialect: string): Promise<Reply> {
  const [name, stream] = dialect.split('-');
  const message = { role: 'user', content: 'do the task' };
  const body = { model: 'policy', stream: stream !== undefined };
  const path = `/ng-rollout/${attempt}/v1`;
  switch (name) {
    case 'responses':
      return stack.post(`${path}/responses`, { ...body, input: [message] });
    case 'messages':
      return stack.post(`${path}/messages`, { ...body, max_tokens: 64, messages: [message] });
    default:
      return stack.post(`${path}/chat/completions`, { ...body, messages: [message] });
  }
}
