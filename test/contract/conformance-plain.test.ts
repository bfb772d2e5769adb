import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DIALECTS, type Dialect, good, PATHS } from '../support/bad-input-cases.ts';
import { type Reply, type Stack, startStack } from '../support/stack.ts';

/** Deadlines, keepalives and errors of uncaptured requests: the same as of captured ones, but for the record. */

/** Code of the error that ends a stream, in the event of its dialect; the comments before it are counted. */
function streamError(dialect: Dialect, reply: Reply): { comments: number; code: string } {
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const frames = reply.text.split('\n\n').filter((frame) => frame !== '');
  const comments = frames.filter((frame) => frame === ': waiting').length;
  const last = frames.at(-1) ?? '';
  const data = JSON.parse(last.slice(last.indexOf('data: ') + 6));
  switch (dialect) {
    case 'chat':
      return { comments, code: data.error.code };
    case 'messages':
      assert.ok(last.startsWith('event: error\n'));
      return { comments, code: data.error.message.split(':')[0] };
    case 'responses':
      assert.ok(last.startsWith('event: response.failed\n'));
      assert.match(frames[comments] ?? '', /^event: response\.created\n/);
      return { comments, code: data.response.error.code };
  }
}

describe('uncaptured requests', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      config: { 'deadlines.call_s': '0.4', 'sse.grace_s': '0.05', 'sse.keepalive_s': '0.05' },
      worker: { streamDelayMs: 150 },
    });
  });
  after(() => stack.close());

  for (const dialect of DIALECTS) {
    test(`${dialect}: 504 at the deadline`, async () => {
      stack.worker.arm({ kind: 'hold' });
      const reply = await stack.post(`/v1/${PATHS[dialect]}`, good(dialect));
      stack.worker.release();
      assert.equal(reply.status, 504);
      assert.equal(reply.headers.get('x-should-retry'), 'false');
      assert.match(reply.text, /deadline_exceeded/);
    });
  }

  for (const dialect of ['responses', 'messages'] as const) {
    test(`${dialect}: a stream holds comments while it waits, and ends in the dialect's error event at the deadline`, async () => {
      stack.worker.arm({ kind: 'hold' });
      const reply = await stack.post(`/v1/${PATHS[dialect]}`, { ...good(dialect), stream: true });
      stack.worker.release();
      const { comments, code } = streamError(dialect, reply);
      assert.ok(comments > 0);
      assert.equal(code, 'deadline_exceeded');
    });

    test(`${dialect}: an engine that fails after the head is out is told in an event`, async () => {
      stack.worker.arm({ kind: 'status', status: 400, delay_ms: 150 });
      const reply = await stack.post(`/v1/${PATHS[dialect]}`, { ...good(dialect), stream: true });
      assert.equal(streamError(dialect, reply).code, 'invalid_request');
    });
  }

  test('chat: a stream that the engine does not begin is 504 at the deadline', async () => {
    stack.worker.arm({ kind: 'hold' });
    const reply = await stack.post('/v1/chat/completions', { ...good('chat'), stream: true });
    stack.worker.release();
    assert.equal(reply.status, 504);
    assert.equal(reply.json.error.code, 'deadline_exceeded');
  });

  test('chat: a stream that the engine does not finish ends in an error event at the deadline', async () => {
    const reply = await stack.post('/v1/chat/completions', { ...good('chat'), stream: true });
    assert.match(reply.text, /^data: \{"id":"chatcmpl-/);
    assert.deepEqual(streamError('chat', reply), { comments: 0, code: 'deadline_exceeded' });
  });

  test('a token count ends at the deadline too', async () => {
    for (const [path, body] of [
      ['/context/a/measure', good('chat')],
      ['/v1/messages/count_tokens', good('messages')],
    ] as const) {
      stack.worker.arm({ kind: 'hold', route: 'tokenize' });
      const reply = await stack.post(path, body);
      stack.worker.release();
      assert.equal(reply.status, 504, reply.text);
      assert.match(reply.text, /deadline_exceeded/);
    }
  });
});
