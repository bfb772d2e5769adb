import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownHistories } from '../../../src/call/known-histories.ts';
import { parseCall } from '../../../src/call/parse-call.ts';
import type { Dialect, EngineMessage } from '../../../src/protocol/conversation.ts';
import { CAPTURED } from '../../support/responses-dialect.ts';

/** The messages of one request after the other, of one attempt. */
function reader(dialect: Dialect): (body: object) => readonly EngineMessage[] {
  const histories = new KnownHistories(1_000_000);
  return (body) => {
    const seen = histories.of('attempt', dialect);
    assert.ok(seen !== null);
    const parsed = parseCall(dialect, Buffer.from(JSON.stringify(body)), CAPTURED, 100, seen);
    assert.ok('request' in parsed, 'the request was refused');
    histories.remember('attempt', dialect, seen, parsed.body);
    return parsed.request.messages;
  };
}

const LONG = 'long enough to be worth keeping. '.repeat(20);
const IMAGE_URL = 'data:image/png;base64,AAAA';

const RESPONSES = {
  instructions: LONG,
  items: [
    { role: 'developer', content: 'd' },
    { role: 'user', content: [{ type: 'input_text', text: 'q' }] },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'r' }] },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: IMAGE_URL }] },
    { type: 'function_call_output', call_id: 'b', output: 'text' },
    { role: 'user', content: [{ type: 'input_image', image_url: IMAGE_URL }] },
  ],
  roles: ['system', 'user', 'assistant', 'tool', 'tool', 'user', 'user'],
};

test('Responses: what came before is the very same messages', () => {
  const read = reader('responses');
  const body = (items: object[]) => ({ model: 'm', instructions: RESPONSES.instructions, input: items });
  const first = read(body(RESPONSES.items));
  const second = read(body([...RESPONSES.items, { role: 'assistant', content: 'a' }, { role: 'user', content: 'n' }]));
  assert.deepEqual(
    first.map((message) => message.role),
    RESPONSES.roles,
  );
  first.forEach((message, at) => {
    assert.equal(second[at], message);
  });
  assert.equal(second.length, first.length + 2);
});

const IMAGE_BLOCK = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

test('Messages: what came before is the very same messages', () => {
  const read = reader('messages');
  const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
  const history = [
    { role: 'user', content: [{ type: 'text', text: 'q', cache_control: { type: 'ephemeral' } }] },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'r', signature: '' }, call('a'), call('b')] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: [IMAGE_BLOCK] },
        { type: 'tool_result', tool_use_id: 'b', content: 'text' },
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    },
    { role: 'system', content: 'late' },
  ];
  const body = (messages: object[]) => ({
    model: 'm',
    max_tokens: 9,
    system: [{ type: 'text', text: LONG }],
    messages,
  });
  const first = read(body(history));
  const second = read(body([...history, { role: 'assistant', content: 'a' }, { role: 'user', content: 'n' }]));
  assert.deepEqual(
    first.map((message) => message.role),
    ['system', 'user', 'assistant', 'tool', 'tool', 'user', 'user', 'user'],
  );
  first.forEach((message, at) => {
    assert.equal(second[at], message);
  });
  assert.equal(second.length, first.length + 2);
});

test('an output that joins a turn later makes its messages anew', () => {
  const read = reader('responses');
  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
  const output = (text: string) => ({ type: 'function_call_output', call_id: 'a', output: text });
  const items = [{ role: 'user', content: 'q' }, call, output('one')];
  assert.equal(read({ model: 'm', input: items })[2]?.content, 'one');
  assert.deepEqual(read({ model: 'm', input: [...items, output('two')] })[2]?.content, [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ]);
});

test('Responses: calls that came before are read by the tools of the new request', () => {
  const read = reader('responses');
  const input = [
    { role: 'user', content: 'q' },
    { type: 'function_call', call_id: 'a', name: 'tool', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'ok' },
  ];
  const tool = { type: 'function', name: 'tool', description: LONG };
  const nameWith = (tools: object[]) => {
    const turn = read({ model: 'm', input, tools })[1];
    return turn?.role === 'assistant' ? turn.toolCalls[0]?.name : undefined;
  };
  assert.equal(nameWith([tool]), 'tool');
  assert.equal(nameWith([{ type: 'namespace', name: 'mcp__a', tools: [tool] }]), 'mcp__a__tool');
  assert.equal(nameWith([tool]), 'tool');
});

test('Messages: inputs that came before are read by the tools of the new request', () => {
  const read = reader('messages');
  const messages = [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { _raw: 'no object' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
  ];
  const argumentsWith = (properties: object) => {
    const tool = { name: 'f', description: LONG, input_schema: { type: 'object', properties } };
    const turn = read({ model: 'm', max_tokens: 9, messages, tools: [tool] })[1];
    return turn?.role === 'assistant' ? turn.toolCalls[0]?.arguments : undefined;
  };
  assert.equal(argumentsWith({}), 'no object');
  assert.equal(argumentsWith({ _raw: {} }), '{"_raw":"no object"}');
  assert.equal(argumentsWith({}), 'no object');
});

test('Chat: what came before is the very same messages, but for the one that images of tools are put into', () => {
  const read = reader('chat');
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const image = { type: 'image_url', image_url: { url: IMAGE_URL } };
  const history = [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
    { role: 'tool', tool_call_id: 'a', content: [image] },
    { role: 'tool', tool_call_id: 'b', content: 'text' },
    { role: 'user', content: LONG },
  ];
  const first = read({ model: 'm', messages: history });
  const second = read({ model: 'm', messages: [...history, { role: 'user', content: 'n' }] });
  assert.deepEqual(
    second.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'user', 'user', 'user'],
  );
  first.forEach((message, at) => {
    if (at === 4) assert.deepEqual(second[at], message);
    else assert.equal(second[at], message);
  });
  const held = second[4]?.content;
  assert.deepEqual(Array.isArray(held) ? held.map(({ type }) => type) : held, ['media']);
});
