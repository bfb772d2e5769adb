import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseChatBody, parseTokenizeBody } from '../../../src/reference-worker/chat-body.ts';

const user = { role: 'user', content: 'hi' };
const calling = (text: string | null) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: text } }],
});
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('chat bodies', () => {
  const accepted: unknown[] = [
    { messages: [user] },
    { messages: [{ role: 'developer', content: [{ type: 'text', text: 'x', cache_control: {} }] }, user] },
    { messages: [user, calling('{"a":1}'), { role: 'tool', content: 'x', tool_call_id: 'c' }] },
    { messages: [user, calling(null)] },
    { messages: [user, { role: 'assistant', content: 'x', tool_calls: null }] },
    { messages: [user], stream: true, stream_options: { include_usage: true } },
    { messages: [user], tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'auto' },
    { messages: [user], anything_else: 1, temperature: 0 },
  ];
  for (const [at, value] of accepted.entries()) {
    test(`accepted: case ${at}`, () => assert.equal(parseChatBody(bytes(value)).ok, true));
  }

  const refused: [name: string, value: unknown, message: RegExp, param: string | null][] = [
    ['no JSON', '{"messages":', /not JSON/, null],
    ['no object', '[]', /expected object/i, null],
    ['no messages', { model: 'm' }, /body\.messages/, 'messages'],
    ['empty messages', { messages: [] }, /body\.messages/, 'messages'],
    ['an unknown role', { messages: [{ role: 'bot', content: '' }] }, /body\.messages\.0\.role/, 'messages'],
    ['a user message without content', { messages: [{ role: 'user' }] }, /body\.messages\.0\.content/, 'messages'],
    ['an unknown part', { messages: [{ role: 'user', content: [{ type: 'x' }] }] }, /body\.messages\.0/, 'messages'],
    ['arguments that are no JSON', { messages: [user, calling('{"a"')] }, /messages\.1\.tool_calls/, 'messages'],
    ['arguments that are no object', { messages: [user, calling('[1]')] }, /messages\.1\.tool_calls/, 'messages'],
    ['stream options without a stream', { messages: [user], stream_options: {} }, /stream_options/, 'stream_options'],
    ['a tool choice without tools', { messages: [user], tool_choice: 'required' }, /tool_choice/, 'tool_choice'],
    ['max_tokens 0', { messages: [user], max_tokens: 0 }, /max_tokens/, 'max_tokens'],
    ['several problems', { n: 0, top_p: 2 }, /^3 validation errors/, 'messages'],
  ];
  for (const [name, value, message, param] of refused) {
    test(`refused: ${name}`, () => {
      const parsed = parseChatBody(bytes(value));
      if (parsed.ok) assert.fail('it was accepted');
      assert.match(parsed.message, message);
      assert.equal(parsed.param, param);
    });
  }

  test('refused: bytes that are not UTF-8', () => {
    const parsed = parseChatBody(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
    assert.equal(parsed.ok === false && parsed.message, 'the body is not UTF-8');
  });
});

describe('tokenize bodies', () => {
  test('a conversation or a text', () => {
    const conversation = parseTokenizeBody(bytes({ messages: [user] }));
    assert.equal(conversation.ok && conversation.value.kind, 'messages');
    const text = parseTokenizeBody(bytes({ model: 'm', prompt: 'hi' }));
    assert.deepEqual(text, { ok: true, value: { kind: 'prompt', prompt: 'hi' } });
  });

  test('neither of them is refused', () => {
    assert.equal(parseTokenizeBody(bytes({})).ok, false);
    assert.equal(parseTokenizeBody(bytes('7')).ok, false);
    assert.equal(parseTokenizeBody(bytes({ messages: 'hi' })).ok, false);
  });
});
