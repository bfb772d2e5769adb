import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { pino } from 'pino';
import { DIALECTS, good, PATHS } from '../support/bad-input-cases.ts';
import { type Stack, type StackOptions, startStack } from '../support/stack.ts';

/** Settings, seen end to end. */

async function withStack(options: StackOptions, use: (stack: Stack) => Promise<void>): Promise<void> {
  const stack = await startStack(options);
  try {
    await use(stack);
  } finally {
    await stack.close();
  }
}

const USER = { role: 'user', content: 'hi' };

/** The body of the latest request at the worker. */
function sent(stack: Stack): Record<string, unknown> {
  return JSON.parse(String(stack.worker.requests().at(-1)?.body)) as Record<string, unknown>;
}

describe('settings', () => {
  test('sampling.override wins over the agent, null takes its field away, and the render digest is taken afterwards', () =>
    withStack(
      { config: { 'sampling.override': '{"temperature":0.25,"top_p":null,"chat_template_kwargs":{"a":1}}' } },
      async (stack) => {
        const path = '/ng-rollout/a/v1/chat/completions';
        const asked = { ...good('chat'), temperature: 1, top_p: 0.5, seed: 7, chat_template_kwargs: { a: 2 } };
        const first = await stack.post(path, asked);
        const { temperature, top_p, seed, chat_template_kwargs } = sent(stack);
        assert.deepEqual([temperature, top_p, seed, chat_template_kwargs], [0.25, undefined, 7, { a: 1 }]);
        const messages = [USER, first.json.choices[0].message, USER];
        await stack.post(path, { ...good('chat'), messages, chat_template_kwargs: { a: 3 } });
        const { records } = (await stack.control('GET', '/ledger/a')).json.manifest;
        assert.equal(records.length, 2);
        assert.equal(records[1].parent_call_id, records[0].model_call_id);
        await stack.post('/v1/responses', { ...good('responses'), temperature: 1, top_p: 0.5 });
        assert.deepEqual([sent(stack).temperature, sent(stack).top_p], [0.25, undefined]);
      },
    ));

  test('model names: aliases map, the override wins, and the reply has the name that was asked for', async () => {
    await withStack({ config: { 'model.aliases': '{"gpt-x":"policy"}' } }, async (stack) => {
      for (const dialect of DIALECTS) {
        const reply = await stack.post(`/ng-rollout/a/v1/${PATHS[dialect]}`, { ...good(dialect), model: 'gpt-x' });
        assert.equal(reply.status, 200);
        assert.equal(reply.json.model, 'gpt-x');
        assert.equal(sent(stack).model, 'policy');
      }
    });
    await withStack({ config: { 'model.override': 'policy' } }, async (stack) => {
      for (const model of ['gpt-x', undefined]) {
        const reply = await stack.post('/ng-rollout/a/v1/chat/completions', { ...good('chat'), model });
        assert.equal(reply.json.model, model ?? 'policy');
        assert.equal(sent(stack).model, 'policy');
      }
      assert.equal((await stack.post('/context/a/measure', { ...good('chat'), model: 'gpt-x' })).status, 200);
      assert.equal(sent(stack).model, 'policy');
    });
  });

  test('a model that has the name of a built-in goes up like any other', () =>
    withStack({}, async (stack) => {
      for (const model of ['constructor', '__proto__', 'toString']) {
        await stack.post('/ng-rollout/a/v1/chat/completions', { ...good('chat'), model });
        assert.equal(sent(stack).model, model);
      }
    }));

  test('capture.after_failure: refuse, in every dialect; measuring goes on', () =>
    withStack({ config: { 'capture.after_failure': 'refuse' } }, async (stack) => {
      stack.worker.arm({ kind: 'capture_failed' });
      assert.equal((await stack.post('/ng-rollout/a/v1/chat/completions', good('chat'))).status, 502);
      for (const dialect of DIALECTS) {
        const reply = await stack.post(`/ng-rollout/a/v1/${PATHS[dialect]}`, good(dialect));
        assert.equal(reply.status, 400);
        assert.equal(reply.headers.get('x-should-retry'), 'false');
        assert.match(reply.text, /attempt_incomplete/);
      }
      assert.equal((await stack.post('/context/a/measure', good('chat'))).status, 200);
      assert.equal((await stack.control('GET', '/ledger/a')).json.manifest.attempted_call_ids.length, 1);
    }));

  for (const [schema, ownerKey] of [
    ['2', 'capture_key'],
    ['3', 'rollout_id'],
  ] as const) {
    test(`schema ${schema} with ${ownerKey} as the owner's name, on the wire and in the manifest`, () =>
      withStack({ config: { 'capture.schema_version': schema, 'capture.owner_key': ownerKey } }, async (stack) => {
        assert.equal((await stack.post('/ng-rollout/a/v1/chat/completions', good('chat'))).status, 200);
        assert.equal((sent(stack).ng_capture as Record<string, unknown>)[ownerKey], 'a');
        const { manifest } = (await stack.control('GET', '/ledger/a')).json;
        assert.equal(manifest[ownerKey], 'a');
        assert.equal(manifest.records.length, 1);
      }));
  }

  test('times longer than a timer can count are no time at all: nothing is sent before the answer', () =>
    withStack(
      { config: { 'sse.grace_s': '1e9', 'sse.keepalive_s': '1e9', 'deadlines.call_s': '1e9' } },
      async (stack) => {
        stack.worker.arm({ kind: 'late', delay_ms: 100, times: null });
        const stream = await stack.post('/ng-rollout/a/v1/messages', { ...good('messages'), stream: true });
        assert.ok(stream.text.startsWith('event: message_start\n'));
        assert.equal((await stack.post('/v1/responses', good('responses'))).status, 200);
      },
    ));

  test('admitted_at of a whole second prints with a decimal point', () =>
    withStack({ overrides: { nowS: () => 1_700_000_000 } }, async (stack) => {
      await stack.post('/ng-rollout/a/v1/chat/completions', good('chat'));
      assert.match((await stack.control('GET', '/ledger/a')).text, /"admitted_at":1700000000\.0[,}]/);
    }));

  test('an answer that the engine gave up on is kept for nobody: the re-send runs', () =>
    withStack({}, async (stack) => {
      stack.worker.arm({ kind: 'abort', until_released: true });
      const call = httpRequest(`${stack.proxy.url}/ng-rollout/a/v1/chat/completions`, { method: 'POST' });
      call.on('error', () => undefined);
      call.end(JSON.stringify(good('chat')));
      await stack.worker.whenHeld(1);
      call.destroy();
      await waitFor(async () => /clients_gone_total 1/.test((await stack.get('/metrics')).text));
      stack.worker.release();
      const records = async () => (await stack.control('GET', '/ledger/a')).json.manifest.records;
      await waitFor(async () => (await records()).length === 1);
      const again = await stack.post('/ng-rollout/a/v1/chat/completions', good('chat'));
      assert.equal(again.status, 200);
      assert.equal(again.json.choices[0].finish_reason, 'stop');
      assert.deepEqual(
        (await records()).map((record: { finish_reason: string }) => record.finish_reason),
        ['abort', 'stop'],
      );
    }));

  test('no text of a request or an answer, and no key, is in the log, at any level', async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    await withStack({ overrides: { log: pino({ level: 'trace' }, sink) } }, async (stack) => {
      const secret = 'ThePatientIsCalled';
      const body = { ...good('chat'), messages: [{ role: 'user', content: secret }] };
      const headers = { authorization: 'Bearer sk-agents-own', 'x-api-key': 'sk-agents-own' };
      for (const path of ['/v1/chat/completions', '/ng-rollout/a/v1/chat/completions']) {
        for (const answer of [`no ${secret}`, { error: { message: secret, code: secret } }, { detail: secret }]) {
          for (const status of [200, 400, 500]) {
            stack.worker.arm({
              kind: 'status',
              status,
              body: answer,
              times: path.startsWith('/v1') && status === 500 ? 3 : 1,
            });
            await stack.post(path, body, headers);
            stack.worker.clearFaults();
          }
        }
        await stack.post(path, body, headers);
        await stack.post(path, `{"model":"${secret}","messages":[{"role":"${secret}"`, headers);
        await stack.post(path, { ...body, messages: [{ role: secret, content: secret }] }, headers);
      }
      assert.ok(lines.length > 20);
      assert.deepEqual(
        lines.filter((line) => line.includes(secret) || line.includes('sk-agents-own')),
        [],
      );
      const metrics = (await stack.get('/metrics')).text;
      assert.match(metrics, /added_latency_seconds_count\{phase="render"\} 1\n/);
    });
  });
});

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    assert.ok(tries < 400, 'it did not come to that');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
