import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Fault } from '../../src/reference-worker/faults.ts';
import { startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { type Reply, type Stack, startStack } from '../support/stack.ts';

/** Every row of the table of protocol section 6, in the ledger and to the agent, in both generations and all dialects. */

interface Row {
  readonly name: string;
  readonly fault: Fault;
  readonly failures: readonly string[];
  readonly refused?: string;
  /** Status for the agent, by generation where they differ. */
  readonly status: number | { readonly 2: number; readonly 3: number };
  readonly code?: string;
  readonly records?: number;
  readonly pending?: number;
  readonly retry?: 'never' | 'may';
}

const WITHOUT = 'request_finished_without_staged_coordinates';
const INVALID = 'invalid_worker_commit_coordinates';
/** Schema 2: the rollout is lost, the agent gets its answer. */
const SERVED = { 2: 200, 3: 502 } as const;
const vllm = (status: number, message: string) => ({
  error: { message, type: 'BadRequestError', param: null, code: status },
});

const ROWS: readonly Row[] = [
  {
    name: 'length refusal',
    fault: { kind: 'length_refusal', input_tokens: 200_000 },
    failures: [],
    refused: 'context_length_exceeded',
    status: 400,
    code: 'context_length_exceeded',
    pending: 0,
  },
  {
    name: 'length refusal in capitals',
    fault: { kind: 'status', status: 400, body: vllm(400, 'MAXIMUM CONTEXT LENGTH is 10') },
    failures: [],
    refused: 'context_length_exceeded',
    status: 400,
    code: 'context_length_exceeded',
    pending: 0,
  },
  {
    name: 'the same words with another status',
    fault: { kind: 'status', status: 500, body: vllm(500, 'maximum context length') },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_failed',
  },
  {
    name: '400',
    fault: { kind: 'status', status: 400, body: vllm(400, 'bad temperature') },
    failures: [WITHOUT],
    status: 400,
    code: 'invalid_request',
  },
  {
    name: '404',
    fault: { kind: 'status', status: 404, body: vllm(404, 'no such model') },
    failures: [WITHOUT],
    status: 404,
    code: 'not_found',
  },
  { name: '409', fault: { kind: 'status', status: 409 }, failures: [WITHOUT], status: 400 },
  {
    name: '422',
    fault: { kind: 'status', status: 422, body: { detail: [{ msg: 'wrong' }] } },
    failures: [WITHOUT],
    status: 400,
    code: 'invalid_request',
  },
  {
    name: '401',
    fault: { kind: 'status', status: 401 },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_refused_credentials',
  },
  {
    name: '403',
    fault: { kind: 'status', status: 403 },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_refused_credentials',
  },
  {
    name: '429 with Retry-After',
    fault: { kind: 'status', status: 429, retry_after: 7, body: vllm(429, 'slow down') },
    failures: [WITHOUT],
    status: 429,
    code: 'rate_limit_exceeded',
    retry: 'may',
  },
  {
    name: '500',
    fault: { kind: 'status', status: 500, body: 'Internal Server Error' },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_failed',
  },
  {
    name: '503 with Retry-After',
    fault: { kind: 'status', status: 503, retry_after: 3 },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_failed',
    retry: 'may',
  },
  { name: '302', fault: { kind: 'status', status: 302 }, failures: [WITHOUT], status: 502, code: 'worker_failed' },
  {
    name: '204 without a body',
    fault: { kind: 'status', status: 204, body: '' },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_failed',
  },
  {
    name: 'an answer that is no JSON',
    fault: { kind: 'status', status: 200, body: '<html>' },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'an answer that is no object',
    fault: { kind: 'status', status: 200, body: [1] },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'connection dropped before the answer',
    fault: { kind: 'drop_before_answer' },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'connection dropped inside the answer',
    fault: { kind: 'drop_mid_body' },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'staged, then dead',
    fault: { kind: 'stage_and_die' },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'lost acknowledgement',
    fault: { kind: 'lose_acknowledgement' },
    failures: ['worker_response_missing_commit_coordinates'],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'foreign coordinates',
    fault: { kind: 'foreign_coordinates' },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'malformed coordinates',
    fault: { kind: 'malformed_coordinates' },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'diverging lengths',
    fault: { kind: 'diverging_lengths' },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'an unknown field',
    fault: { kind: 'patch_coordinates', set: { extra: 1 } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a missing null',
    fault: { kind: 'patch_coordinates', unset: ['parent_call_id'] },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'an integer as text',
    fault: { kind: 'patch_coordinates', set: { cum_len: '3' } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a boolean for an integer',
    fault: { kind: 'patch_coordinates', set: { weight_version: true } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a hash in capitals',
    fault: { kind: 'patch_coordinates', set: { digest: 'A'.repeat(64) } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a foreign staging key',
    fault: { kind: 'patch_coordinates', set: { staging_key: 'other/key' } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'the other generation',
    fault: { kind: 'patch_coordinates', set: { schema_version: 1 } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a parent that was not proposed',
    fault: { kind: 'patch_coordinates', set: { parent_call_id: 'f'.repeat(32), prev_len: 2, cum_len: 100 } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'capture_failed',
    fault: { kind: 'capture_failed' },
    failures: ['worker_capture_failed'],
    status: SERVED,
    code: 'capture_failed',
  },
  { name: 'no id', fault: { kind: 'missing_id' }, failures: [INVALID], status: 502, code: 'capture_failed' },
  { name: 'no choice', fault: { kind: 'no_choices' }, failures: [INVALID], status: 502, code: 'capture_failed' },
  {
    name: 'abort, staged',
    fault: { kind: 'abort' },
    failures: [],
    records: 1,
    pending: 0,
    status: 502,
    code: 'worker_failed',
  },
];

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
