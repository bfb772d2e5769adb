import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DIALECTS, type Dialect, good, PATHS } from '../support/bad-input-cases.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** `lineage.reasoning`, `reasoning.chat_key` and `worker.call_id_limit`, end to end. */

const USER = { role: 'user', content: 'hi' };
const THOUGHT = 'a thought of its own';
const bare = { role: 'assistant', content: 'said' };

let redis: RedisServer;
before(async () => {
  redis = await startRedis();
});
after(() => redis.stop());

/** The members of a request that go on after the reply, echoed as it was served or as `turn`. */
// biome-ignore lint/suspicious/noExplicitAny: replies of three dialects
function goOn(dialect: Dialect, reply: any, turn?: object): object {
  switch (dialect) {
    case 'chat':
      return { messages: [USER, turn ?? reply.choices[0].message, USER] };
    case 'messages':
      return { messages: [USER, turn ?? { role: 'assistant', content: reply.content }, USER] };
    case 'responses':
      return { input: [USER, ...(turn === undefined ? reply.output : [turn]), USER] };
  }
}

/** Modes of the record that follows a faithful echo, one without reasoning, one with other reasoning. */
const MODES = {
  required: ['token_in', 'text', 'text'],
  optional: ['token_in', 'token_in', 'text'],
  hidden: ['token_in', 'token_in', 'token_in'],
} as const;

for (const [policy, modes] of Object.entries(MODES)) {
  for (const store of ['sqlite', 'redis'] as const) {
    describe(`lineage.reasoning ${policy}, ${store}`, () => {
      let stack: Stack;
      before(async () => {
        const url = store === 'redis' ? { 'ledger.url': redis.url } : {};
        stack = await startStack({ config: { 'lineage.reasoning': policy, 'reasoning.chat_key': 'both', ...url } });
      });
      after(() => stack.close());

      for (const dialect of DIALECTS) {
        test(`${dialect}: what is served, and what continues it`, async () => {
          const path = `/ng-rollout/${policy}-${store}-${dialect}/v1/${PATHS[dialect]}`;
          const ask = (members: object = {}) => stack.post(path, { ...good(dialect), ...members });
          for (const stream of [true, false]) {
            stack.worker.script({ answers: [{ content: 'said', reasoning: THOUGHT }], replace: true });
            const reply = await ask({ stream });
            assert.equal(reply.text.includes(THOUGHT), policy !== 'hidden');
            if (stream) continue;
            if (dialect === 'chat') {
              const { reasoning, reasoning_content } = reply.json.choices[0].message;
              const served = policy === 'hidden' ? undefined : THOUGHT;
              assert.deepEqual([reasoning, reasoning_content], [served, served]);
            }
            await ask(goOn(dialect, reply.json));
            await ask(goOn(dialect, reply.json, bare));
            if (dialect === 'chat') await ask(goOn(dialect, reply.json, { ...bare, reasoning: 'another thought' }));
          }
          const { records } = (await stack.control('GET', `/ledger/${policy}-${store}-${dialect}`)).json.manifest;
          assert.deepEqual(
            records.slice(2).map((record: { mode: string }) => record.mode),
            modes.slice(0, dialect === 'chat' ? 3 : 2),
          );
        });
      }
    });
  }
}

test('worker.call_id_limit: long ids are shortened for the engine alone, call and result alike', async () => {
  const stack = await startStack({ config: { 'worker.call_id_limit': '16' } });
  try {
    const id = `call_${'x'.repeat(60)}`;
    const call = { id, type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    const choice = { index: 0, finish_reason: 'tool_calls', message };
    stack.worker.arm({ kind: 'patch_completion', set: { choices: [choice] } });
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const path = '/ng-rollout/ids/v1/chat/completions';
    const first = await stack.post(path, { ...good('chat'), tools });
    const served = first.json.choices[0].message;
    assert.equal(served.tool_calls[0].id, id);
    const result = { role: 'tool', tool_call_id: id, content: 'ok' };
    await stack.post(path, { ...good('chat'), tools, messages: [USER, served, result] });
    const { messages } = JSON.parse(String(stack.worker.requests().at(-1)?.body));
    assert.equal(messages[1].tool_calls[0].id.length, 16);
    assert.equal(messages[2].tool_call_id, messages[1].tool_calls[0].id);
    const { records } = (await stack.control('GET', '/ledger/ids')).json.manifest;
    assert.deepEqual([records[0].output_items[0].id, records[1].mode], [id, 'token_in']);
  } finally {
    await stack.close();
  }
});
