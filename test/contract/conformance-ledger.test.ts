import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DIALECTS, good, PATHS } from '../support/bad-input-cases.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** What the ledger says about calls of every kind, for both generations and both stores. */

const user = (content: string) => ({ role: 'user', content });
const chat = (...messages: object[]) => ({ model: 'policy', messages });

let redis: RedisServer;
before(async () => {
  redis = await startRedis();
});
after(() => redis.stop());

for (const schema of ['2', '3'] as const) {
  for (const store of ['sqlite', 'redis'] as const) {
    describe(`schema ${schema}, ${store}`, () => {
      let stack: Stack;
      before(async () => {
        const config = {
          'capture.schema_version': schema,
          'sse.grace_s': '0.05',
          'sse.keepalive_s': '0.05',
          ...(store === 'redis' ? { 'ledger.url': redis.url } : {}),
        };
        stack = await startStack({ config });
      });
      after(() => stack.close());
      const name = (what: string) => `${what}-${schema}-${store}`;

      test('why_root has exactly the recorded roots; refused calls stand in no list', async () => {
        const attempt = name('roots');
        const path = `/ng-rollout/${attempt}/v1/chat/completions`;
        const first = await stack.post(path, chat(user('a')));
        const history = [user('a'), first.json.choices[0].message, user('b')];
        const second = await stack.post(path, chat(...history));
        await stack.post(path, chat(user('other')));
        stack.worker.arm({ kind: 'root_instead' });
        await stack.post(path, chat(...history, second.json.choices[0].message, user('c')));
        await stack.post(path, chat(...history), { 'x-nemo-gym-capture-parent': 'null' });
        stack.worker.arm({ kind: 'capture_failed' });
        await stack.post(path, chat(user('lost')));
        stack.worker.arm({ kind: 'length_refusal' });
        await stack.post(path, chat(user('long')));
        const { json } = await stack.control('POST', `/ledger/${attempt}/close?wait_s=0`);
        const roots = json.manifest.records.filter(
          (record: { parent_call_id: unknown }) => record.parent_call_id === null,
        );
        const ids = roots.map((record: { model_call_id: string }) => record.model_call_id);
        assert.deepEqual(Object.keys(json.why_root), ids);
        const causes = [
          'first_call',
          'history_differs',
          ...(schema === '3' ? ['rooted_by_worker'] : []),
          'parent_header',
        ];
        assert.deepEqual(
          Object.values(json.why_root).map((why) => (why as { cause: string }).cause),
          causes,
        );
        assert.deepEqual(
          json.refused.map(({ code }: { code: string }) => code),
          ['context_length_exceeded'],
        );
        const lists = schema === '3' ? json.manifest : json;
        assert.equal(lists.attempted_call_ids.length, 6);
        assert.equal(lists.attempted_call_ids.includes(json.refused[0].model_call_id), false);
        const failed = json.manifest.failures.map(({ model_call_id }: { model_call_id: string }) => model_call_id);
        assert.deepEqual(lists.pending_call_ids, failed);
        assert.equal(failed.length, schema === '3' ? 1 : 2);
      });

      test('an ambiguous history is measured as its call would be served', async () => {
        const attempt = name('alike');
        const path = `/ng-rollout/${attempt}/v1/chat/completions`;
        stack.worker.arm({ kind: 'patch_coordinates', set: { cumulative_hash: 'a'.repeat(64) } });
        await stack.post(path, chat(user('a')));
        const { content } = (await stack.post(path, chat(user('a')))).json.choices[0].message;
        const body = chat(user('a'), { role: 'assistant', content }, user('b'));
        const [measured, served] = [
          await stack.post(`/context/${attempt}/measure`, body),
          await stack.post(path, body),
        ];
        assert.deepEqual([measured.status, served.status], schema === '3' ? [400, 400] : [200, 200]);
        if (schema === '3') assert.equal(measured.json.error.code, 'ambiguous_candidate');
      });

      for (const dialect of DIALECTS) {
        test(`${dialect}: an attempt that is retired or deleted under a call: 410, or the event of a stream that has begun`, async () => {
          for (const operation of ['retire', 'delete']) {
            for (const stream of [false, true]) {
              const attempt = name(`${operation}-${dialect}-${stream}`);
              stack.worker.arm({ kind: 'hold' });
              const call = fetch(`${stack.proxy.url}/ng-rollout/${attempt}/v1/${PATHS[dialect]}`, {
                method: 'POST',
                body: JSON.stringify({ ...good(dialect), stream }),
              });
              await stack.worker.whenHeld(1);
              if (stream) await call;
              const key = { capture_keys: [attempt] };
              assert.deepEqual((await stack.control('POST', `/ledger/${operation}`, key)).json.removed, [attempt]);
              stack.worker.release();
              const reply = await call;
              assert.equal(reply.status, stream ? 200 : 410);
              const text = await reply.text();
              assert.match(text, /attempt_retired/);
              if (stream) assert.ok(text.startsWith(': waiting\n\n'));
              else assert.equal(reply.headers.get('x-should-retry'), 'false');
              const ledger = await stack.control('GET', `/ledger/${attempt}`);
              assert.equal(ledger.status, operation === 'retire' ? 410 : 200);
              if (operation === 'delete') assert.deepEqual(ledger.json.manifest.records, []);
            }
          }
        });
      }
    });
  }
}

test('what an agent must not say is dropped and counted on every path', async () => {
  const stack = await startStack();
  try {
    const said = { prompt_logprobs: 3, return_token_ids: true, ng_capture: { a: 1 }, routed_experts: [1] };
    const paths: [string, object][] = [
      ...DIALECTS.flatMap((dialect): [string, object][] => [
        [`/v1/${PATHS[dialect]}`, good(dialect)],
        [`/ng-rollout/a/v1/${PATHS[dialect]}`, good(dialect)],
      ]),
      ['/v1/messages/count_tokens', good('messages')],
      ['/context/a/measure', good('chat')],
      ['/context/a/measure', good('responses')],
    ];
    for (const [path, body] of paths) {
      assert.equal((await stack.post(path, { ...body, ...said })).status, 200, path);
      const sent = JSON.parse(String(stack.worker.requests().at(-1)?.body));
      for (const member of ['prompt_logprobs', 'return_token_ids', 'routed_experts'])
        assert.equal(member in sent, false);
      assert.equal(sent.ng_capture?.a, undefined);
    }
    const metrics = (await stack.get('/metrics')).text;
    for (const field of Object.keys(said))
      assert.match(metrics, new RegExp(`stripped_fields_total\\{field="${field}"\\} ${paths.length}\\n`));
  } finally {
    await stack.close();
  }
});
