import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { mintAgentKey } from '../../src/access.ts';
import { CASES, DIALECTS, type Dialect, good, PATHS } from '../support/bad-input-cases.ts';
import { CONTROL_TOKEN, type Reply, type Stack, startStack } from '../support/stack.ts';

/** Bad input: the right status, a body in the caller's dialect that says what to change, nothing recorded, no upstream call. */

function checkEnvelope(dialect: Dialect, reply: Reply, status: number, code: string, says: RegExp): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(reply.headers.get('x-should-retry'), 'false');
  const { error } = reply.json;
  assert.match(error.message, says);
  if (dialect === 'messages') {
    assert.deepEqual(Object.keys(reply.json), ['type', 'error']);
    assert.equal(reply.json.type, 'error');
    assert.ok(error.message.startsWith(`${code}: `), error.message);
  } else {
    assert.deepEqual(Object.keys(reply.json), ['error']);
    assert.equal(error.code, code);
    assert.ok('param' in error && typeof error.type === 'string');
  }
}

describe('bad input', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ config: { 'limits.body_bytes': '200000' } });
  });
  after(() => stack.close());

  async function nothingHappened(attempt: string): Promise<void> {
    const { json } = await stack.control('GET', `/ledger/${attempt}`);
    assert.deepEqual(json, {
      attempt,
      state: 'open',
      complete: false,
      manifest: {
        schema_version: 3,
        capture_key: attempt,
        records: [],
        failures: [],
        attempted_call_ids: [],
        pending_call_ids: [],
      },
      refused: [],
      why_root: {},
    });
    assert.deepEqual(stack.worker.requests(), []);
  }

  CASES.forEach((row, at) => {
    for (const dialect of row.dialects ?? DIALECTS) {
      test(`${row.name}: ${dialect}`, async () => {
        const attempt = `bad-${at}-${dialect}`;
        const body = row.body === undefined ? good(dialect) : row.body(dialect);
        const reply = await stack.post(`/ng-rollout/${attempt}/v1/${PATHS[dialect]}`, body, row.headers);
        checkEnvelope(dialect, reply, row.status, row.code, row.says);
        await nothingHappened(attempt);
      });
    }
  });

  for (const name of ['', '_x', '.x', '-x', 'a b', 'a/b', 'ä', 'x'.repeat(257), 'a%00', '%zz']) {
    for (const dialect of DIALECTS) {
      test(`attempt name ${JSON.stringify(name.slice(0, 12))}: ${dialect}`, async () => {
        const encoded = name === '%zz' ? name : encodeURIComponent(name);
        const reply = await stack.post(`/ng-rollout/${encoded}/v1/${PATHS[dialect]}`, good(dialect));
        checkEnvelope(dialect, reply, 400, 'invalid_attempt', /attempt/);
        assert.deepEqual(stack.worker.requests(), []);
      });
    }
  }

  test('other generating paths, unknown paths and methods', async () => {
    for (const path of [
      '/ng-rollout/a/v1/completions',
      '/ng-rollout/a/v1/embeddings',
      '/v1/completions',
      '/nothing',
      '/ng-rollout/a',
      '/ng-rollout/a/v1',
    ]) {
      const reply = await stack.post(path, good('chat'));
      checkEnvelope('chat', reply, 404, 'not_found', /nothing at POST/);
    }
    const unknown = await stack.post('/ng-rollout/a/v1/messages/batches', {});
    checkEnvelope('messages', unknown, 404, 'not_found', /nothing at POST/);
    const get = await stack.get('/ng-rollout/a/v1/responses');
    checkEnvelope('responses', get, 405, 'method_not_allowed', /POST/);
    assert.equal(get.headers.get('allow'), 'POST');
    await nothingHappened('a');
  });

  test('remote compaction is refused with advice', async () => {
    const reply = await stack.post('/ng-rollout/a/v1/responses/compact', { model: 'm', input: [] });
    checkEnvelope('responses', reply, 400, 'unsupported_field', /provider/);
  });

  test('compressed bodies are read, and bombs are not', async () => {
    const body = Buffer.from(JSON.stringify(good('chat')));
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(body)],
      ['zstd', zstdCompressSync(body)],
      ['identity', body],
    ] as const) {
      const reply = await stack.post('/v1/chat/completions', bytes, { 'content-encoding': encoding });
      assert.equal(reply.status, 200, `${encoding}: ${reply.text}`);
    }
    const bomb = await stack.post('/v1/chat/completions', gzipSync(Buffer.alloc(10_000_000)), {
      'content-encoding': 'gzip',
    });
    checkEnvelope('chat', bomb, 413, 'body_too_large', /limits.body_bytes/);
  });

  test('a closed attempt takes no calls, a retired one neither', async () => {
    await stack.control('POST', '/ledger/closed-1/close?wait_s=0');
    await stack.control('POST', '/ledger/retire', { capture_keys: ['retired-1'] });
    const before = stack.worker.requests().length;
    for (const dialect of DIALECTS) {
      checkEnvelope(
        dialect,
        await stack.post(`/ng-rollout/closed-1/v1/${PATHS[dialect]}`, good(dialect)),
        410,
        'attempt_closed',
        /closed/,
      );
      checkEnvelope(
        dialect,
        await stack.post(`/ng-rollout/retired-1/v1/${PATHS[dialect]}`, good(dialect)),
        410,
        'attempt_retired',
        /retired/,
      );
    }
    assert.equal(stack.worker.requests().length, before);
    checkEnvelope('chat', await stack.control('GET', '/ledger/retired-1'), 410, 'attempt_retired', /retired/);
  });

  test('the trainer side without, and with a wrong bearer', async () => {
    for (const [method, path] of [
      ['GET', '/ledger/x'],
      ['POST', '/ledger/x/close'],
      ['POST', '/ledger/retire'],
      ['POST', '/ledger/delete'],
      ['GET', '/training-token-capture/control/rollouts/x/manifest'],
      ['POST', '/training-token-capture/control/rollouts/retire'],
    ] as const) {
      for (const headers of [
        {},
        { authorization: 'Bearer wrong' },
        { authorization: CONTROL_TOKEN },
        { 'x-api-key': CONTROL_TOKEN },
      ]) {
        const reply = method === 'GET' ? await stack.get(path, headers) : await stack.post(path, {}, headers);
        checkEnvelope('chat', reply, 401, 'unauthorized', /control token/);
      }
    }
  });

  test('bad input of the trainer', async () => {
    for (const body of [
      {},
      { capture_keys: [] },
      { capture_keys: 'x' },
      { capture_keys: ['-'] },
      { rollout_ids: ['x'] },
      { capture_keys: ['x'], more: 1 },
      { capture_keys: Array(4097).fill('x') },
    ]) {
      checkEnvelope(
        'chat',
        await stack.control('POST', '/ledger/retire', body),
        400,
        'invalid_request',
        /capture_keys/,
      );
    }
    checkEnvelope('chat', await stack.control('POST', '/ledger/delete', '{'), 400, 'invalid_json', /JSON/);
    for (const wait of ['-1', 'x', '3601']) {
      checkEnvelope(
        'chat',
        await stack.control('POST', `/ledger/x/close?wait_s=${wait}`),
        400,
        'invalid_request',
        /wait_s/,
      );
    }
    checkEnvelope('chat', await stack.control('GET', '/ledger/-x'), 400, 'invalid_attempt', /attempt/);
  });
});

describe('agent keys', () => {
  const secret = 'agent-key-secret-0123';
  let stack: Stack;
  before(async () => {
    stack = await startStack({ config: { 'agents.key_secret': secret } });
  });
  after(() => stack.close());

  test('the key of the attempt is needed, in either header; no other will do', async () => {
    const path = '/ng-rollout/mine/v1/chat/completions';
    for (const headers of [
      {},
      { authorization: 'Bearer x' },
      { authorization: `Bearer ${mintAgentKey(secret, 'yours')}` },
      { 'x-api-key': mintAgentKey('another-secret-0123', 'mine') },
    ]) {
      checkEnvelope('chat', await stack.post(path, good('chat'), headers), 401, 'unauthorized', /agent key/);
    }
    assert.deepEqual(stack.worker.requests(), []);
    const key = mintAgentKey(secret, 'mine');
    assert.equal((await stack.post(path, good('chat'), { authorization: `Bearer ${key}` })).status, 200);
    assert.equal((await stack.post(path, good('chat'), { 'x-api-key': key })).status, 200);
    assert.equal((await stack.post('/v1/chat/completions', good('chat'), { 'x-api-key': key })).status, 200);
    checkEnvelope('chat', await stack.post('/v1/chat/completions', good('chat')), 401, 'unauthorized', /agent key/);
    checkEnvelope(
      'chat',
      await stack.get('/ledger/mine', { authorization: `Bearer ${key}` }),
      401,
      'unauthorized',
      /control token/,
    );
  });
});
