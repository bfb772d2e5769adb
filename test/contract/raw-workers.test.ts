import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Pool } from 'undici';
import { relay } from '../../src/worker/relay.ts';
import { WorkerPool } from '../../src/worker/worker-pool.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** Workers that answer otherwise than the reference worker can. */

const CHAT = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };
const servers: Server[] = [];
const stacks: Stack[] = [];
after(async () => {
  for (const stack of stacks) await stack.close();
  for (const server of servers) server.close().closeAllConnections();
});

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function stackOver(answer: RequestListener, config: Record<string, string> = {}): Promise<Stack> {
  const stack = await startStack({ config: { workers: await listen(answer), ...config } });
  stacks.push(stack);
  return stack;
}

const chunk = (content: string) =>
  `data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;

describe('a plain stream of Chat', () => {
  for (const [where, cut] of [
    ['inside a line', 'data: {"id":"c1","obj'],
    ['inside an event', chunk('lost').slice(0, -1)],
    ['between events', ''],
  ] as const) {
    test(`that breaks off ${where} ends behind a whole event and with an error event`, async () => {
      const stack = await stackOver((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(chunk('one') + cut, () => setTimeout(() => response.destroy(), 20));
      });
      const { text } = await stack.post('/v1/chat/completions', { ...CHAT, stream: true });
      assert.ok(text.startsWith(chunk('one')), text);
      const [event, ...rest] = text.slice(chunk('one').length).split('\n\n');
      assert.deepEqual(rest, ['']);
      assert.equal(JSON.parse((event as string).replace(/^data: /, '')).error.code, 'worker_failed');
    });
  }

  test('that the worker answers with a whole completion comes as a stream, without its token data', async () => {
    const completion = {
      id: 'chatcmpl-1',
      model: 'policy',
      created: 1,
      prompt_token_ids: [1, 2],
      choices: [
        { index: 0, finish_reason: 'stop', token_ids: [3], message: { role: 'assistant', content: 'all at once' } },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
    };
    const stack = await stackOver((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion));
    });
    const reply = await stack.post('/v1/chat/completions', { ...CHAT, stream: true });
    assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.match(reply.text, /"content":"all at once"/);
    assert.ok(reply.text.endsWith('data: [DONE]\n\n'));
    assert.doesNotMatch(reply.text, /token_ids/);
    assert.equal((await stack.post('/v1/chat/completions', CHAT)).json.choices[0].message.content, 'all at once');
  });

  test('leaves nothing behind on the signal that could have ended it', async () => {
    const url = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(chunk('one'));
    });
    const { signal } = new AbortController();
    const sink = { open: () => undefined, write: () => true, end: () => undefined };
    for (const origin of [url, 'http://127.0.0.1:9']) {
      const request = { method: 'POST', path: '/', headers: {}, body: null, signal } as const;
      const connections = new Pool(origin);
      const { kind } = await relay(connections, request, sink);
      assert.equal(kind, origin === url ? 'relayed' : 'unreachable');
      assert.deepEqual(getEventListeners(signal, 'abort'), []);
      await connections.close();
    }
  });
});

test('workers are asked not to compress', async () => {
  const seen: (string | undefined)[] = [];
  const stack = await stackOver((request, response) => {
    seen.push(request.headers['accept-encoding'] as string | undefined);
    response.writeHead(500).end();
  });
  await stack.post('/ng-rollout/a/v1/chat/completions', CHAT);
  assert.deepEqual(seen, ['identity']);
});

test('Retry-After of a worker is passed on where it says something', async () => {
  let value = '';
  const stack = await stackOver((_request, response) => {
    response.writeHead(429, { 'retry-after': value }).end('{"error":{"message":"slow down"}}');
  });
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
  for (const [given, told] of [
    ['7', '7'],
    ['0.5', '0.5'],
    [date, date],
    ['', '2'],
    ['soon', '2'],
    ['-1', '2'],
  ] as const) {
    value = given;
    const reply = await stack.post('/ng-rollout/a/v1/chat/completions', CHAT);
    assert.deepEqual([reply.status, reply.headers.get('retry-after')], [429, told], given);
  }
});

/** Answers with a head and then a byte now and then, without end. */
function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
}

test('a worker whose model list never ends is not waited for', async () => {
  const stack = await stackOver((_request, response) => drip(response));
  assert.deepEqual((await stack.get('/v1/models')).json, { object: 'list', data: [] });
});

test('a worker whose health never ends keeps no other one out', async () => {
  const isUp = Promise.withResolvers<string>();
  const urls = [
    await listen((_request, response) => drip(response)),
    await listen((_request, response) => response.end('{}')),
  ];
  const pool = new WorkerPool({
    urls,
    apiKey: null,
    apiKeys: {},
    connectMs: 1_000,
    healthMs: 60,
    answerBytes: 1_000_000,
    events: { workerError: () => undefined, workerHealth: (url, up) => up && isUp.resolve(url) },
  });
  for (const worker of pool.workers) pool.note(worker, { kind: 'unreachable', detail: 'ECONNREFUSED' });
  assert.equal(await isUp.promise, urls[1]);
  assert.deepEqual(
    pool.workers.map(({ healthy }) => healthy),
    [false, true],
  );
  await pool.close();
});

test('one worker that answers is enough to be ready, whatever the others do', async () => {
  const silent = await listen(() => undefined);
  const stack = await startStack({
    config: {
      workers: `${silent},${await listen((_request, response) => response.end('{}'))}`,
      'worker.health_s': '3600',
    },
  });
  stacks.push(stack);
  assert.equal((await stack.get('/health/ready')).status, 200);
});

test('a worker that offers HTTP/2 is asked over HTTP/1.1, where nothing is sent again', async () => {
  const folder = join(import.meta.dirname, 'ledger', 'tls');
  const [cert, key] = ['cert.pem', 'key.pem'].map((file) => readFileSync(join(folder, file)));
  const versions: string[] = [];
  const server = createSecureServer({ cert, key, allowHTTP1: true } as object, (request, response) => {
    versions.push((request as unknown as IncomingMessage).httpVersion);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const events = { workerError: () => undefined, workerHealth: () => undefined };
  const options = { apiKey: null, apiKeys: {}, connectMs: 1_000, healthMs: 60_000, answerBytes: 1_000_000, events };
  const pool = new WorkerPool({ urls: [url], ...options });
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    const [worker] = pool.workers;
    const outcome = await pool.post(worker as NonNullable<typeof worker>, '/v1/chat/completions', Buffer.from('{}'));
    assert.equal(outcome.kind, 'response', JSON.stringify(outcome));
    assert.deepEqual(versions, ['1.1']);
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    await pool.close();
    server.close();
  }
});
