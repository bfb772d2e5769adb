import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { type Stack, startStack } from '../support/stack.ts';

const BODY = JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: 'task' }] });
const PATH = '/ng-rollout/a/v1/chat/completions';

/** Runs with a service whose log lines are kept. */
async function withLog(use: (stack: Stack, lines: () => string[]) => Promise<void>, config = {}): Promise<void> {
  const sink = new PassThrough();
  const written: Buffer[] = [];
  sink.on('data', (chunk: Buffer) => written.push(chunk));
  const stack = await startStack({ config, overrides: { log: pino({ level: 'info', base: null }, sink) } });
  try {
    await use(stack, () => Buffer.concat(written).toString().split('\n').filter(Boolean));
  } finally {
    await stack.close();
  }
}

/** Sends these pieces one after the other, each on its own way, and returns what comes back until the connection ends. */
async function sendPieces(
  stack: Stack,
  headers: string,
  pieces: readonly (string | Buffer)[],
  hangUp = false,
): Promise<string> {
  const socket = connect(Number(new URL(stack.proxy.url).port), '127.0.0.1');
  socket.setNoDelay(true);
  const closed = once(socket, 'close');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(`POST ${PATH} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n\r\n`);
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (hangUp) socket.destroy();
  await closed;
  return answer;
}

const statusOf = (answer: string) => answer.split(' ', 2)[1];

describe('the body of a request', () => {
  test('may come in pieces, with its length or in chunks, and compressed', async () => {
    await withLog(async (stack) => {
      const half = BODY.length >> 1;
      const pieces = [BODY.slice(0, half), BODY.slice(half)];
      assert.equal(statusOf(await sendPieces(stack, `content-length: ${BODY.length}`, pieces)), '200');
      const chunks = [...pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`), '0\r\n\r\n'];
      assert.equal(statusOf(await sendPieces(stack, 'transfer-encoding: chunked', chunks)), '200');
      const packed = gzipSync(BODY);
      const headers = `content-encoding: gzip\r\ncontent-length: ${packed.length}`;
      assert.equal(statusOf(await sendPieces(stack, headers, [packed.subarray(0, 10), packed.subarray(10)])), '200');
      const { json } = await stack.control('GET', '/ledger/a');
      assert.equal(json.manifest.records.length, 3);
    });
  });

  test('of a client that goes away inside it: nothing is recorded, asked or logged', async () => {
    await withLog(async (stack, lines) => {
      const before = lines().length;
      await sendPieces(stack, `content-length: ${BODY.length}`, [BODY.slice(0, 20)], true);
      await sendPieces(stack, 'transfer-encoding: chunked', ['14\r\n', BODY.slice(0, 20), '\r\n'], true);
      assert.equal(statusOf(await sendPieces(stack, `content-length: ${BODY.length}`, [BODY])), '200');
      assert.deepEqual(lines().slice(before), []);
      const { json } = await stack.control('GET', '/ledger/a');
      assert.equal(json.manifest.attempted_call_ids.length, 1);
    });
  });

  test('that is too long is refused by its length, and else as soon as it is', async () => {
    await withLog(
      async (stack) => {
        const byLength = await sendPieces(stack, 'content-length: 2000', []);
        const byBytes = await sendPieces(stack, 'transfer-encoding: chunked', [`7d0\r\n${'x'.repeat(2000)}\r\n`]);
        for (const answer of [byLength, byBytes]) {
          assert.equal(statusOf(answer), '413');
          assert.equal(
            JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)).error.code,
            'body_too_large',
          );
        }
        assert.deepEqual((await stack.control('GET', '/ledger/a')).json.manifest.attempted_call_ids, []);
      },
      { 'limits.body_bytes': '1024' },
    );
  });
});
