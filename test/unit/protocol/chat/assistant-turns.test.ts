import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalArguments } from '../../../../src/lineage/canonical-json.ts';
import { evidenceOf } from '../../../../src/lineage/evidence.ts';
import type { AssistantMessage } from '../../../../src/protocol/conversation.ts';
import { chatUp, convertChat, UNCAPTURED } from '../../../support/chat-conversion.ts';

function turn(message: object): AssistantMessage {
  const request = convertChat({ messages: [{ role: 'assistant', ...message }] }, UNCAPTURED);
  return request.messages[0] as AssistantMessage;
}

function digest(message: object): string {
  return evidenceOf(turn(message), 'required').digest;
}

const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const UP_CALL = [CALL];

const UP: readonly (readonly [what: string, message: object, up: object])[] = [
  ['null beside calls', { content: null, tool_calls: [CALL] }, { content: null, tool_calls: UP_CALL }],
  ['absent beside calls', { tool_calls: [CALL] }, { content: null, tool_calls: UP_CALL }],
  ['[] beside calls', { content: [], tool_calls: [CALL] }, { content: null, tool_calls: UP_CALL }],
  ['"" beside calls', { content: '', tool_calls: [CALL] }, { content: '', tool_calls: UP_CALL }],
  ['nothing at all', { content: null }, { content: '' }],
  ['white space', { content: ' \n' }, { content: ' \n' }],
  ['tool_calls null', { content: 'x', tool_calls: null }, { content: 'x' }],
  ['tool_calls []', { content: 'x', tool_calls: [] }, { content: 'x' }],
  [
    'all the null keys of a dump',
    {
      content: 'x',
      function_call: null,
      tool_calls: null,
      audio: null,
      refusal: null,
      annotations: [],
      name: null,
      provider_specific_fields: { refusal: null },
    },
    { content: 'x' },
  ],
  [
    'several texts',
    {
      content: [
        { type: 'text', text: 'a' },
        { type: 'output_text', text: 'b', annotations: [] },
      ],
    },
    { content: 'ab' },
  ],
  [
    'a text part with copied extras',
    {
      content: [{ type: 'text', text: 'x', role: 'assistant', tool_calls: [CALL], reasoning: 'r' }],
      reasoning: 'r',
      tool_calls: [CALL],
    },
    { content: 'x', reasoning: 'r', tool_calls: UP_CALL },
  ],
  ['reasoning_content', { content: 'x', reasoning_content: 'r' }, { content: 'x', reasoning: 'r' }],
  ['both names', { content: 'x', reasoning_content: 'r', reasoning: 'r' }, { content: 'x', reasoning: 'r' }],
  ['an empty reasoning', { content: 'x', reasoning_content: '' }, { content: 'x' }],
  ['a blank reasoning', { content: 'x', reasoning: ' \n' }, { content: 'x' }],
  [
    'a thinking part',
    {
      content: [
        { type: 'thinking', thinking: 'r' },
        { type: 'text', text: 'x' },
      ],
    },
    { content: 'x', reasoning: 'r' },
  ],
  [
    'two thinking blocks beside',
    {
      content: 'x',
      thinking_blocks: [
        { type: 'thinking', thinking: 'a', signature: '' },
        { type: 'thinking', thinking: 'b' },
      ],
    },
    { content: 'x', reasoning: 'a\nb' },
  ],
  ['a refusal', { content: null, refusal: 'no' }, { content: null, refusal: 'no' }],
  ['a refusal part', { content: [{ type: 'refusal', refusal: 'no' }] }, { content: null, refusal: 'no' }],
  [
    'a call without type',
    { content: null, tool_calls: [{ id: 'c1', function: CALL.function }] },
    { content: null, tool_calls: UP_CALL },
  ],
  [
    'a call with an index',
    { content: null, tool_calls: [{ index: 0, ...CALL }] },
    { content: null, tool_calls: UP_CALL },
  ],
  [
    'arguments as an object',
    { content: null, tool_calls: [{ ...CALL, function: { name: 'f', arguments: { a: 1 } } }] },
    { content: null, tool_calls: UP_CALL },
  ],
  [
    'broken arguments',
    { content: null, tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{"a' } }] },
    { content: null, tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{}' } }] },
  ],
  [
    'no arguments',
    { content: null, tool_calls: [{ ...CALL, function: { name: 'f' } }] },
    { content: null, tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{}' } }] },
  ],
  [
    'a custom call',
    { content: null, tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'exec', input: 'ls\n' } }] },
    {
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'exec', arguments: '{"input":"ls\\n"}' } }],
    },
  ],
];

for (const [what, message, up] of UP)
  test(`an assistant turn with ${what} goes up`, () => {
    assert.deepEqual(chatUp({ role: 'assistant', ...message }), [{ role: 'assistant', ...up }]);
  });

/** Shapes in which clients echo one and the same turn; each list is one turn. */
const SAME: readonly (readonly [what: string, ...turns: object[]])[] = [
  [
    'text, reasoning and a call',
    {
      content: ' Look. ',
      reasoning: ' think\n',
      tool_calls: [
        { id: 'c', type: 'function', function: { name: 'f', arguments: '{ "d":"d\\u00e9", "timeout": 1.0e4 }' } },
      ],
    },
    {
      content: ' Look. ',
      reasoning_content: ' think\n',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"d":"dé","timeout":10000}' } }],
    },
    {
      content: [{ type: 'text', text: ' Look. ', annotations: [] }],
      reasoning: ' think\n',
      reasoning_content: ' think\n',
      tool_calls: [
        {
          type: 'function',
          id: 'c',
          index: 0,
          function: { arguments: '{"timeout": 10000.0, "d": "d\\u00e9"}', name: 'f' },
        },
      ],
    },
    {
      content: [{ type: 'text', text: ' Look. ', role: 'assistant', reasoning: ' think\n' }],
      reasoning: ' think\n',
      refusal: null,
      audio: null,
      function_call: null,
      tool_calls: [{ id: 'c', function: { name: 'f', arguments: { d: 'dé', timeout: 1e4 } } }],
    },
    {
      content: [
        { type: 'text', text: ' Lo' },
        { type: 'text', text: 'ok. ' },
      ],
      thinking_blocks: [{ type: 'thinking', thinking: ' think\n' }],
      tool_calls: [
        { id: 'c', type: 'function', function: { name: 'f', arguments: '{"timeout":1,"d":"dé","timeout":10000}' } },
      ],
    },
  ],
  [
    'an empty answer',
    { content: '' },
    { content: null },
    { content: [] },
    {},
    { content: '', reasoning_content: '', tool_calls: [] },
  ],
  [
    'calls without content',
    { content: null, tool_calls: [CALL] },
    { tool_calls: [CALL] },
    { content: [], tool_calls: [CALL] },
  ],
  [
    'empty arguments',
    { tool_calls: [{ ...CALL, function: { name: 'f', arguments: '' } }] },
    { tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{}' } }] },
    { tool_calls: [{ ...CALL, function: { name: 'f' } }] },
  ],
  [
    'big integers',
    { tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{"id":2512292042121000001}' } }] },
    { tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{"id":2512292042121000000}' } }] },
  ],
  ['a refusal', { content: null, refusal: 'no' }, { content: [{ type: 'refusal', refusal: 'no' }] }],
];

for (const [what, first, ...others] of SAME)
  test(`one turn in many shapes: ${what}`, () => {
    for (const other of others) assert.equal(digest(other), digest(first as object), JSON.stringify(other));
  });

/** Changes that make it another turn. */
const OTHER: readonly (readonly [what: string, change: object])[] = [
  ['trimmed text', { content: 'Look.' }],
  ['no reasoning', { reasoning: null }],
  ['trimmed reasoning', { reasoning: 'think' }],
  ['doubled reasoning', { reasoning: ' think\n think\n' }],
  ['another call id', { tool_calls: [{ ...CALL, id: 'c2' }] }],
  ['another name', { tool_calls: [{ ...CALL, function: { name: 'invalid', arguments: '{"a":1}' } }] }],
  ['other arguments', { tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{"a":"1"}' } }] }],
  ['cut arguments', { tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{"a":1' } }] }],
  ['no call', { tool_calls: [] }],
  ['a call more', { tool_calls: [CALL, { ...CALL, id: 'c2' }] }],
  ['a refusal', { refusal: 'no' }],
];

for (const [what, change] of OTHER)
  test(`another turn: ${what}`, () => {
    const served = { content: ' Look. ', reasoning: ' think\n', tool_calls: [CALL] };
    assert.notEqual(digest({ ...served, ...change }), digest(served));
  });

test('null and "" beside calls match by the second digest', () => {
  const none = evidenceOf(turn({ content: null, tool_calls: [CALL] }), 'required');
  const empty = evidenceOf(turn({ content: '', tool_calls: [CALL] }), 'required');
  assert.notEqual(none.digest, empty.digest);
  assert.equal(none.emptyToolContentDigest, empty.emptyToolContentDigest);
});

test('shapes of one turn are one upstream message, but for the spelling of arguments', () => {
  const spelled = (key: string, value: unknown) => (key === 'arguments' ? canonicalArguments(String(value)) : value);
  for (const [what, ...turns] of SAME) {
    const ups = turns.map((message) => JSON.stringify(chatUp({ role: 'assistant', ...message }), spelled));
    assert.equal(new Set(ups).size, 1, what);
  }
});
