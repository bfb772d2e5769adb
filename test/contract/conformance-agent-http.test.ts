import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { CONTROL_TOKEN, type Stack, send, startStack } from '../support/stack.ts';

/** HTTP as clients really speak it: other headers, methods and spellings than those of a model SDK. */

const CHAT = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };
const HELLO = 'Echo of message 1: hello';

describe('HTTP of the agents', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.close());

  /** A request that `fetch` would not send. */
  function raw(path: string, headers: Record<string, string>, body: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const call = httpRequest(stack.proxy.url + path, { method: 'POST', headers }, (reply) => {
        let text = '';
        reply.on('data', (chunk) => {
          text += chunk;
        });
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
      });
      call.on('error', reject);
      call.end(body);
    });
  }

  /** Everything that comes back for these bytes, sent one after the other, until the connection closes. */
  function exchange(...parts: string[]): Promise<string> {
    const { port, hostname } = new URL(stack.proxy.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, async () => {
        for (const part of parts) {
          socket.write(part);
          await new Promise((sent) => setTimeout(sent, 10));
        }
      });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
  }

  test('the control token is refused wherever it stands', async () => {
    for (const headers of [
      { authorization: `Bearer ${CONTROL_TOKEN}` },
      { authorization: `bearer  ${CONTROL_TOKEN}` },
      { authorization: CONTROL_TOKEN },
      { authorization: `Token ${CONTROL_TOKEN}` },
      { 'x-api-key': CONTROL_TOKEN },
      { 'api-key': CONTROL_TOKEN },
      { 'x-goog-api-key': CONTROL_TOKEN },
      { authorization: `bearer\t${CONTROL_TOKEN}` },
      { authorization: `Basic ${Buffer.from(`user:${CONTROL_TOKEN}`).toString('base64')}` },
      { 'x-api-key': `other, ${CONTROL_TOKEN}` },
      { cookie: `a=b; key=${CONTROL_TOKEN}; c="d"` },
    ] as Record<string, string>[]) {
      for (const path of ['/v1/chat/completions', '/ng-rollout/a/v1/chat/completions', '/context/a/measure']) {
        const reply = await stack.post(path, CHAT, headers);
        assert.equal(reply.status, 401, `${JSON.stringify(headers)} ${path}`);
        assert.equal(reply.json.error.code, 'unauthorized');
      }
      assert.equal((await stack.get('/v1/models', headers)).status, 401);
    }
    assert.equal((await stack.post(`/v1/chat/completions?key=${CONTROL_TOKEN}`, CHAT)).status, 401);
    assert.deepEqual(stack.worker.requests(), []);
    for (const authorization of [
      `Bearer ${CONTROL_TOKEN}x`,
      `Bearer x${CONTROL_TOKEN}`,
      `Bearer ${CONTROL_TOKEN.slice(1)}`,
    ])
      assert.equal((await stack.post('/v1/chat/completions?key=x', CHAT, { authorization })).status, 200);
  });

  test('an offer of HTTP/2 is no WebSocket: the call runs', async () => {
    const headers = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA',
    };
    const reply = await raw('/ng-rollout/h2c/v1/chat/completions', headers, JSON.stringify(CHAT));
    assert.equal(reply.status, 200);
    assert.equal(JSON.parse(reply.text).choices[0].message.content, HELLO);
    for (const path of ['/v1/responses', '/v1/realtime']) {
      const refused = await raw(path, { connection: 'Upgrade', upgrade: 'WebSocket' }, '');
      assert.equal(refused.status, 426);
      assert.equal(JSON.parse(refused.text).error.code, 'upgrade_required');
    }
  });

  test('a body is read whatever its content type says', async () => {
    for (const type of [
      'json',
      ';;;',
      'text/plain; charset=x',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ]) {
      const reply = await raw('/ng-rollout/types/v1/chat/completions', { 'content-type': type }, JSON.stringify(CHAT));
      assert.equal(reply.status, 200, `${type}: ${reply.text}`);
    }
  });

  test('an encoding that has the name of a built-in is unknown like any other', async () => {
    for (const encoding of ['constructor', 'toString', '__proto__', 'rot13']) {
      const reply = await raw('/v1/responses', { 'content-encoding': encoding }, JSON.stringify(CHAT));
      assert.equal(reply.status, 415, encoding);
      assert.equal(JSON.parse(reply.text).error.code, 'unsupported_media_type');
    }
  });

  test('what is no HTTP, or has headers without end, gets an error envelope and a closed connection', async () => {
    for (const [bytes, status, message] of [
      ['GARBAGE\r\n\r\n', '400 Bad Request', 'This is no HTTP request that can be read.'],
      [
        `GET /v1/models HTTP/1.1\r\nhost: x\r\nx-a: ${'b'.repeat(20_000)}\r\n\r\n`,
        '431 Request Header Fields Too Large',
        'The headers of the request are too large.',
      ],
    ] as const) {
      const reply = await exchange(bytes);
      const [head, body] = reply.split('\r\n\r\n');
      assert.equal(head?.split('\r\n')[0], `HTTP/1.1 ${status}`);
      assert.deepEqual(JSON.parse(body ?? ''), {
        error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request' },
      });
    }
    assert.equal((await stack.get('/v1/models')).status, 200);
  });

  test('what is no HTTP behind a request waits for the reply to it', async () => {
    const request = (body: object) => {
      const text = JSON.stringify(body);
      return `POST /ng-rollout/behind/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    };
    for (const stream of [false, true]) {
      stack.worker.arm({ kind: 'hold' });
      const answer = exchange(request({ ...CHAT, stream }), request(CHAT), 'GARBAGE\r\n\r\n', 'MORE OF IT\r\n\r\n');
      await stack.worker.whenHeld(1);
      stack.worker.release();
      const replies = (await answer).split(/(?=HTTP\/1\.1 )/);
      assert.deepEqual(
        replies.map((reply) => reply.split('\r\n', 1)[0]),
        ['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 400 Bad Request'],
      );
      assert.match(
        replies[0] as string,
        stream ? /data: \[DONE\]\n\n$/ : new RegExp(`"content":${JSON.stringify(HELLO)}`),
      );
    }
    const { manifest } = (await stack.control('GET', '/ledger/behind')).json;
    assert.deepEqual([manifest.records.length, manifest.pending_call_ids], [4, []]);
  });

  test('a body that cannot be read is answered at once', async () => {
    const head =
      'POST /ng-rollout/chunks/v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    const reply = await exchange(head, '3\r\n{"a\r\n', 'no size\r\n');
    assert.equal(reply.split('\r\n', 1)[0], 'HTTP/1.1 400 Bad Request');
    assert.equal(reply.split('HTTP/1.1 ').length, 2);
  });

  test('a known path with another method says which it takes, under every prefix', async () => {
    for (const prefix of ['/v1', '/ng-rollout/a/v1', '/ng-rollout/a/training-token-capture/v1']) {
      for (const [path, allow, method] of [
        ['/messages/count_tokens', 'POST', 'GET'],
        ['/responses/compact', 'POST', 'GET'],
        ['/models', 'GET', 'POST'],
        ['/models/org/name', 'GET', 'DELETE'],
      ] as const) {
        const refused = await send(method, `${stack.proxy.url}${prefix}${path}`);
        assert.equal(refused.status, 405, prefix + path);
        assert.equal(refused.headers.get('allow'), allow);
        const options = await send('OPTIONS', `${stack.proxy.url}${prefix}${path}`);
        assert.equal(options.status, 204);
        assert.equal(options.headers.get('allow'), allow);
      }
    }
    assert.equal((await stack.get('/context/a/measure')).status, 405);
  });

  test('the model list and a model under a bad attempt are refused alike; HEAD answers as GET', async () => {
    for (const path of ['/ng-rollout/-bad/v1/models', '/ng-rollout/-bad/v1/models/policy']) {
      const reply = await stack.get(path);
      assert.equal(reply.status, 400);
      assert.equal(reply.json.error.code, 'invalid_attempt');
    }
    for (const path of ['/v1/models', '/ng-rollout/a/v1/models/policy']) {
      const head = await send('HEAD', stack.proxy.url + path);
      assert.equal(head.status, 200);
      assert.equal(head.text, '');
    }
  });

  test('an upload that breaks off records nothing', async () => {
    const { port, hostname } = new URL(stack.proxy.url);
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          'POST /ng-rollout/cut/v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"model"',
          () => {
            socket.destroy();
            resolve();
          },
        );
      });
      socket.on('error', reject);
    });
    const closed = (await stack.control('POST', '/ledger/cut/close?wait_s=0')).json;
    assert.deepEqual(closed.manifest.attempted_call_ids, []);
    assert.equal(closed.complete, true);
  });

  test('a client that closes its side after the request costs no record', async () => {
    const body = JSON.stringify(CHAT);
    const { port, hostname } = new URL(stack.proxy.url);
    stack.worker.arm({ kind: 'hold' });
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        `POST /ng-rollout/half/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    await stack.worker.whenHeld(1);
    socket.end();
    await ended;
    stack.worker.release();
    const closed = (await stack.control('POST', '/ledger/half/close?wait_s=5')).json;
    assert.equal(closed.complete, true);
    assert.equal(closed.manifest.records.length, 1);
    assert.deepEqual(closed.manifest.failures, []);
  });

  test('an empty wait_s is no zero', async () => {
    for (const wait of ['', '%20']) {
      const reply = await stack.control('POST', `/ledger/waits/close?wait_s=${wait}`);
      assert.equal(reply.status, 400);
      assert.equal(reply.json.error.param, 'wait_s');
    }
    assert.equal((await stack.control('GET', '/ledger/waits')).json.state, 'open');
  });
});
