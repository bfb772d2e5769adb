import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AssistantMessage, EngineMessage } from '../../../src/protocol/conversation.ts';
import { joinFragments } from '../../../src/protocol/json/fragment.ts';
import {
  DEFAULT_UPSTREAM_OPTIONS,
  isJsonObject,
  type UpstreamOptions,
  upstreamBody,
  upstreamMessage,
  wireCallId,
} from '../../../src/protocol/upstream-body.ts';

function text(message: EngineMessage, options: Partial<UpstreamOptions> = {}): string {
  return joinFragments(upstreamMessage(message, { ...DEFAULT_UPSTREAM_OPTIONS, ...options })).toString();
}

function assistant(changes: Partial<AssistantMessage>): AssistantMessage {
  return { role: 'assistant', content: null, reasoning: null, refusal: null, toolCalls: [], echoedIds: [], ...changes };
}

const CALL = { id: 'c1', name: 'f', arguments: '{"a": 1.0}' };

const BUILT: readonly (readonly [what: string, message: EngineMessage, json: string])[] = [
  ['a system text', { role: 'system', content: 'a"b' }, '{"role":"system","content":"a\\"b"}'],
  ['a named user', { role: 'user', content: 'q', name: 'bob' }, '{"role":"user","name":"bob","content":"q"}'],
  [
    'parts in order',
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'media', kind: 'image_url', json: '{"type":"image_url","image_url":{"url":"u"}}' },
      ],
    },
    '{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"u"}}]}',
  ],
  [
    'a tool result',
    { role: 'tool', content: 'ok', toolCallId: 'c1' },
    '{"role":"tool","content":"ok","tool_call_id":"c1"}',
  ],
  ['a tool result without id', { role: 'tool', content: '', toolCallId: '' }, '{"role":"tool","content":""}'],
  ['an answer', assistant({ content: 'a' }), '{"role":"assistant","content":"a"}'],
  ['null stays null', assistant({ content: null }), '{"role":"assistant","content":null}'],
  ['the empty text stays empty', assistant({ content: '' }), '{"role":"assistant","content":""}'],
  ['a refusal', assistant({ refusal: 'no' }), '{"role":"assistant","content":null,"refusal":"no"}'],
  [
    'everything an assistant says',
    assistant({ content: 'x', reasoning: 'r', toolCalls: [CALL, { ...CALL, id: 'c2' }] }),
    '{"role":"assistant","content":"x","reasoning":"r","tool_calls":[' +
      '{"id":"c1","type":"function","function":{"name":"f","arguments":"{\\"a\\": 1.0}"}},' +
      '{"id":"c2","type":"function","function":{"name":"f","arguments":"{\\"a\\": 1.0}"}}]}',
  ],
  [
    'a call without id',
    assistant({ toolCalls: [{ ...CALL, id: '' }] }),
    '{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{\\"a\\": 1.0}"}}]}',
  ],
  ['a lone surrogate, as an escape', { role: 'user', content: '\ud83d' }, '{"role":"user","content":"\\ud83d"}'],
];

for (const [what, message, json] of BUILT)
  test(`built: ${what}`, () => {
    assert.equal(text(message), json);
  });

for (const broken of ['{"cmd": "ec', '', '[1]', '"x"', 'null', '5', 'NaN', '{"a":NaN}', '{bad'])
  test(`arguments ${JSON.stringify(broken)} are no JSON object and go up as {}`, () => {
    assert.equal(isJsonObject(broken), false);
    assert.match(text(assistant({ toolCalls: [{ ...CALL, arguments: broken }] })), /"arguments":"\{\}"/);
  });

for (const whole of ['{}', ' {"a":1} ', '{"a":1,"a":2}', '{"n":2512292042121000001}', '{"a":1e400}', '{"a":"\\ud83d"}'])
  test(`arguments ${whole} go up as they are`, () => {
    assert.equal(isJsonObject(whole), true);
    assert.ok(
      text(assistant({ toolCalls: [{ ...CALL, arguments: whole }] })).includes(`"arguments":${JSON.stringify(whole)}`),
    );
  });

test('the reasoning goes up under the name that the engine reads', () => {
  const message = assistant({ content: 'x', reasoning: 'r' });
  assert.equal(text(message), '{"role":"assistant","content":"x","reasoning":"r"}');
  assert.equal(
    text(message, { reasoningKey: 'reasoning_content' }),
    '{"role":"assistant","content":"x","reasoning_content":"r"}',
  );
  assert.equal(
    text(message, { reasoningKey: 'both' }),
    '{"role":"assistant","content":"x","reasoning":"r","reasoning_content":"r"}',
  );
});

test('client bytes are taken where they say what the engine should read', () => {
  const verbatim = Buffer.from('{ "role":"assistant", "content":"x", "reasoning":"r" }');
  const message = assistant({ content: 'x', reasoning: 'r', verbatim });
  assert.equal(text(message), verbatim.toString());
  assert.equal(
    text(message, { reasoningKey: 'reasoning_content' }),
    '{"role":"assistant","content":"x","reasoning_content":"r"}',
  );
  const silent = assistant({ content: 'x', verbatim: Buffer.from('{"content":"x", "role":"assistant"}') });
  assert.equal(text(silent, { reasoningKey: 'both' }), '{"content":"x", "role":"assistant"}');
});

test('a call id limit overrules client bytes only where an id is touched', () => {
  const long = 'x'.repeat(70);
  const bytes = Buffer.from('{"verbatim":1}');
  const result: EngineMessage = { role: 'tool', content: 'a', toolCallId: long, verbatim: bytes };
  assert.equal(text(result), '{"verbatim":1}');
  assert.equal(text(result, { callIdLimit: 70 }), '{"verbatim":1}');
  assert.match(text(result, { callIdLimit: 64 }), /"tool_call_id":"x{47}_[0-9a-f]{16}"/);
  const call = assistant({ toolCalls: [{ ...CALL, id: long }], verbatim: bytes });
  assert.equal(text(call), '{"verbatim":1}');
  assert.match(text(call, { callIdLimit: 64 }), /"id":"x{47}_[0-9a-f]{16}"/);
});

test('ids are mapped only where a limit asks for it, a call and its result alike, and never two to one', () => {
  assert.equal(wireCallId('functions.list_dir:0', 64), 'functions.list_dir:0');
  assert.equal(wireCallId('a\nb', null), 'a\nb');
  assert.match(wireCallId('a\nb', 64), /^ab_[0-9a-f]{16}$/);
  assert.equal(wireCallId('a\nb', 64), wireCallId('a\nb', 64));
  const ids = ['a\nb', 'ab', 'a b', 'é', '\ud83d', `${'x'.repeat(64)}1`, `${'x'.repeat(64)}2`];
  for (const limit of [20, 40, 64]) {
    const mapped = ids.map((id) => wireCallId(id, limit));
    assert.equal(new Set(mapped).size, ids.length);
    for (const id of mapped) assert.ok(id.length <= limit && /^[\x21-\x7e]+$/.test(id), id);
  }
  assert.equal(wireCallId('abcdefgh', 4).length, 4);
});

test('the body: model, messages, fields, and the additions of the proxy, which win', () => {
  const body = upstreamBody({
    model: 'm"1',
    messages: [['{"a":1}'], [Buffer.from('{"b":2}')], ['{"c":', Buffer.from('3'), '}']],
    fields: new Map<string, string | Buffer>([
      ['temperature', Buffer.from('1.50')],
      ['logprobs', 'false'],
    ]),
    extra: new Map([
      ['stream', 'false'],
      ['logprobs', 'true'],
    ]),
  });
  assert.equal(
    body.toString(),
    '{"model":"m\\"1","messages":[{"a":1},{"b":2},{"c":3}],"temperature":1.50,"stream":false,"logprobs":true}',
  );
});

test('a model of the server replaces the asked one; without any the body names none', () => {
  const parts = { messages: [], fields: new Map(), extra: new Map() };
  assert.equal(upstreamBody({ ...parts, model: null }).toString(), '{"messages":[]}');
  assert.equal(
    upstreamBody({ ...parts, model: 'a', extra: new Map([['model', '"b"']]) }).toString(),
    '{"messages":[],"model":"b"}',
  );
});

test('neighbours of one buffer go up as they stand, whatever else is around them', () => {
  const list = Buffer.from('[{"a":1} ,\n {"b":2},{"c":3};{"d":4},,{"e":5}]');
  const at = (needle: string) => {
    const start = list.indexOf(needle);
    return [list.subarray(start, start + needle.length)];
  };
  const messages = [at('{"a":1}'), at('{"b":2}'), ['{"x":0}'], at('{"c":3}'), at('{"d":4}'), at('{"e":5}')];
  const body = upstreamBody({ model: null, messages, fields: new Map(), extra: new Map() });
  assert.equal(body.toString(), '{"messages":[{"a":1} ,\n {"b":2},{"x":0},{"c":3},{"d":4},{"e":5}]}');
  const backwards = upstreamBody({
    model: null,
    messages: [at('{"b":2}'), at('{"a":1}')],
    fields: new Map(),
    extra: new Map(),
  });
  assert.equal(backwards.toString(), '{"messages":[{"b":2},{"a":1}]}');
});
