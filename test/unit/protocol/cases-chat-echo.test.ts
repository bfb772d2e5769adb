import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EngineAnswer } from '../../../src/protocol/conversation.ts';
import { type Exchange, type Relation, relation } from '../../support/chat-echo.ts';

/** The public echo cases of the Chat dialect (6.B, 6.F, 6.G), each under its number; a letter marks a sibling of the case. */

const ASKED = [
  { role: 'system', content: 's' },
  { role: 'user', content: 'q' },
];
const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const ENGINE_CALL = { id: 'c1', name: 'f', arguments: '{"a":1}' };

type Echo = readonly [
  id: string,
  wanted: Relation,
  answer: Partial<EngineAnswer>,
  echo: (served: Record<string, unknown>) => object,
  policy?: Exchange['policy'],
];

const withArguments = (args: string) => (served: Record<string, unknown>) => ({
  ...served,
  tool_calls: [{ ...CALL, function: { name: 'f', arguments: args } }],
});
const argued = (args: string): Partial<EngineAnswer> => ({
  content: null,
  toolCalls: [{ ...ENGINE_CALL, arguments: args }],
});

const ECHOES: readonly Echo[] = [
  [
    'C51 the reasoning under the other name',
    'exact',
    { content: 'x', reasoning: 'r' },
    () => ({ role: 'assistant', content: 'x', reasoning_content: 'r' }),
  ],
  [
    'C51b the reasoning under both',
    'exact',
    { content: 'x', reasoning: 'r' },
    (served) => ({ ...served, reasoning_content: 'r' }),
  ],
  ['C52 the reasoning lost', 'none', { content: 'x', reasoning: 'r' }, () => ({ role: 'assistant', content: 'x' })],
  [
    'C52 the reasoning lost, optional',
    'exact',
    { content: 'x', reasoning: 'r' },
    () => ({ role: 'assistant', content: 'x' }),
    'optional',
  ],
  ['C52a an empty reasoning added', 'exact', { content: 'x' }, (served) => ({ ...served, reasoning_content: '' })],
  [
    'C53 null echoed as ""',
    'empty_tool_content',
    { content: null, toolCalls: [ENGINE_CALL] },
    (served) => ({ ...served, content: '' }),
  ],
  [
    'C53 "" echoed as null',
    'empty_tool_content',
    { content: '', toolCalls: [ENGINE_CALL] },
    (served) => ({ ...served, content: null }),
  ],
  ['C53 "" echoed as ""', 'exact', { content: '', toolCalls: [ENGINE_CALL] }, (served) => served],
  [
    'C53 null echoed as absent',
    'exact',
    { content: null, toolCalls: [ENGINE_CALL] },
    () => ({ role: 'assistant', tool_calls: [CALL] }),
  ],
  ['C53b an empty answer echoed as null', 'exact', { content: null }, () => ({ role: 'assistant', content: null })],
  ['C54 tool_calls []', 'exact', { content: 'x' }, (served) => ({ ...served, tool_calls: [] })],
  [
    'C56 a dump with nulls',
    'exact',
    { content: 'x' },
    (served) => ({ ...served, function_call: null, tool_calls: null, audio: null, annotations: [] }),
  ],
  [
    'C58 the call renamed',
    'none',
    argued('{"x":1.0}'),
    (served) => ({
      ...served,
      tool_calls: [{ ...CALL, function: { name: 'invalid', arguments: '{"tool":"f","error":"x"}' } }],
    }),
  ],
  ['C59 bad JSON replaced by {}', 'none', argued('{bad'), withArguments('{}')],
  ['C59a bad JSON wrapped', 'none', argued('{bad'), withArguments('{"INVALID_JSON":"{bad"}')],
  ['C59b bad JSON echoed', 'exact', argued('{bad'), withArguments('{bad')],
  [
    'C125a a partial text',
    'none',
    { content: 'partial text and more' },
    () => ({ role: 'assistant', content: 'partial' }),
  ],
  [
    'C125b calls left out',
    'none',
    { content: 'x', toolCalls: [ENGINE_CALL] },
    () => ({ role: 'assistant', content: 'x' }),
  ],
  [
    'C138 reordered and re-spelled arguments',
    'exact',
    argued('{"description":"d","timeout":1.0e4,"command":"c"}'),
    withArguments('{"command":"c","description":"d","timeout":10000}'),
  ],
  ['C139 white space kept', 'exact', { content: '  Let me look. ' }, (served) => served],
  [
    'C139 white space lost',
    'none',
    { content: '  Let me look. ' },
    (served) => ({ ...served, content: 'Let me look.' }),
  ],
  [
    'C141 a big integer rounded',
    'exact',
    argued('{"id":2512292042121000001}'),
    withArguments('{"id":2512292042121000000}'),
  ],
  ['C142 1.0, 1, 1e0', 'exact', argued('{"a":1.0}'), withArguments('{"a":1e0}')],
  ['C143 -0 and 0', 'exact', argued('{"a":-0}'), withArguments('{"a":0}')],
  ['C144 1e400 and null', 'none', argued('{"a":1e400}'), withArguments('{"a":null}')],
  ['C145 integer-like keys moved', 'exact', argued('{"10":1,"2":2}'), withArguments('{"2":2,"10":1}')],
  ['C145a duplicate keys dropped', 'exact', argued('{"a":1,"a":2}'), withArguments('{"a":2}')],
  ['C148 a lone surrogate', 'exact', { content: 'x\ud83d' }, (served) => served],
  ['C148a a lone surrogate replaced', 'none', { content: 'x\ud83d' }, (served) => ({ ...served, content: 'x\ufffd' })],
  ['C149 U+0000 and U+2028', 'exact', { content: 'a\0b\u2028' }, (served) => served],
  ['C150 NaN in arguments', 'exact', argued('{"a": NaN}'), withArguments('{"a": NaN}')],
  ['C101a a refusal', 'exact', { content: null, refusal: 'no' }, (served) => served],
  [
    'C28 a text list of one with extras',
    'exact',
    { content: 'x' },
    () => ({ role: 'assistant', content: [{ type: 'text', text: 'x', role: 'assistant', annotations: [] }] }),
  ],
];

describe('echoes', () => {
  for (const [id, wanted, answer, echo, policy] of ECHOES)
    test(`${id}: ${wanted}`, () => {
      const next = (served: Record<string, unknown>) => [...ASKED, echo(served), { role: 'user', content: 'go on' }];
      assert.equal(relation({ asked: ASKED, answer, next, ...(policy === undefined ? {} : { policy }) }), wanted);
    });

  test('C60 the assistant turn dropped', () => {
    assert.equal(
      relation({
        asked: ASKED,
        answer: { content: 'no call' },
        next: () => [...ASKED, { role: 'user', content: 'No tool calls found' }],
      }),
      'none',
    );
  });

  test('C62 another system prompt', () => {
    assert.equal(
      relation({
        asked: ASKED,
        answer: { content: 'x' },
        next: (served) => [{ role: 'system', content: 'title' }, ASKED[1] as object, served],
      }),
      'none',
    );
  });

  test('C63 developer equals system', () => {
    const asked = [
      { role: 'developer', content: 's' },
      { role: 'user', content: 'q' },
    ];
    assert.equal(
      relation({
        asked,
        answer: { content: 'x' },
        next: (served) => [...ASKED, served, { role: 'user', content: 'n' }],
      }),
      'exact',
    );
  });

  test('C67a a list of one text equals the string, for every role', () => {
    const list = (content: string) => [{ type: 'text', text: content, cache_control: { type: 'ephemeral' } }];
    const asked = [
      { role: 'system', content: list('s') },
      { role: 'user', content: list('q') },
      { role: 'assistant', content: list('a') },
      { role: 'tool', tool_call_id: 'c', content: list('t') },
    ];
    const plain = [
      { role: 'system', content: 's' },
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
      { role: 'tool', tool_call_id: 'c', content: 't', name: 'f' },
    ];
    assert.equal(relation({ asked, answer: { content: 'x' }, next: (served) => [...plain, served] }), 'exact');
  });

  test('C131 ids of messages are ignored', () => {
    const asked = [{ role: 'user', content: 'q', id: 'msg_1' }];
    assert.equal(
      relation({
        asked,
        answer: { content: 'x' },
        next: (served) => [
          { role: 'user', content: 'q', id: 'msg_2' },
          { ...served, id: 'x' },
        ],
      }),
      'exact',
    );
  });

  test('C23 an image without detail is one with auto', () => {
    const image = (detail: object) => [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', ...detail } }] },
    ];
    assert.equal(
      relation({
        asked: image({}),
        answer: { content: 'x' },
        next: (served) => [...image({ detail: 'auto' }), served],
      }),
      'exact',
    );
    assert.equal(
      relation({
        asked: image({}),
        answer: { content: 'x' },
        next: (served) => [...image({ detail: 'high' }), served],
      }),
      'none',
    );
  });
});
