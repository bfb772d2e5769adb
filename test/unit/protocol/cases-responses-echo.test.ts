import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceOf } from '../../../src/lineage/evidence.ts';
import type { ReasoningPolicy } from '../../../src/lineage/types.ts';
import type { EngineAnswer, EngineMessage } from '../../../src/protocol/conversation.ts';
import {
  anyRequest,
  convert,
  engineAnswer,
  type JsonObject,
  render,
  type ServedResponse,
} from '../../support/responses-dialect.ts';
import { fco, user } from '../../support/responses-items.ts';

/** Conversion cases 6.F and 6.G: which echoes of a served turn are that turn. */

const CALL = { id: 'call_a', name: 'f', arguments: '{"a":1}' };
const FULL: Partial<EngineAnswer> = { reasoning: 'why', content: 'text', toolCalls: [CALL] };
const SEALED = { include: ['reasoning.encrypted_content'] };

type Item = Record<string, unknown>;
type Echo = (items: readonly JsonObject[]) => readonly object[];

const drop = (item: JsonObject, ...names: string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

/** Whether the next request begins with the history of the served one and its turn. */
function continues(answer: Partial<EngineAnswer>, echo: Echo, policy: ReasoningPolicy = 'required'): boolean {
  const first = anyRequest(SEALED);
  const reply = render(first, engineAnswer(answer));
  const { output } = JSON.parse(reply.json.toString()) as ServedResponse;
  const next = convert({ model: 'm', input: [user('q'), ...echo(output)] });
  const digests = (messages: readonly EngineMessage[]) => messages.map((each) => evidenceOf(each, policy).digest);
  const history = digests([...first.messages, reply.turn]);
  return JSON.stringify(digests(next.messages).slice(0, history.length)) === JSON.stringify(history);
}

interface Case {
  readonly id: string;
  readonly answer?: Partial<EngineAnswer>;
  readonly echo: Echo;
  readonly want: boolean;
}

const CASES: readonly Case[] = [
  {
    id: 'C122 Codex 0.63: items without ids, encrypted_content null',
    echo: (items) => [
      ...items
        .map((item) => drop(item, 'id', 'status', 'encrypted_content'))
        .map((item) => (item.type === 'reasoning' ? { ...item, encrypted_content: null } : item)),
      fco('call_a'),
    ],
    want: true,
  },
  {
    id: 'C123 Codex 0.169: another order of the keys',
    echo: (items) => [...items.map((item) => Object.fromEntries(Object.entries(item).reverse())), fco('call_a')],
    want: true,
  },
  {
    id: 'C124 notes of the client on every item',
    echo: (items) => [
      ...items.map((item) => ({ ...item, internal_chat_message_metadata_passthrough: { turn_id: '1' } })),
      fco('call_a'),
    ],
    want: true,
  },
  { id: 'C125 a partial echo', echo: (items) => [...items.slice(0, 2), user('go on')], want: false },
  {
    id: 'C126 a cut text',
    echo: (items) => [
      ...items.map((item) =>
        item.type === 'message' ? { ...item, content: [{ type: 'output_text', text: 'te' }] } : item,
      ),
      fco('call_a'),
    ],
    want: false,
  },
  {
    id: 'C129 reasoning echoed by its sealed copy alone',
    echo: (items) => [
      ...items.map((item) =>
        item.type === 'reasoning'
          ? { type: 'reasoning', encrypted_content: item.encrypted_content, summary: [] }
          : item,
      ),
      fco('call_a'),
    ],
    want: true,
  },
  {
    id: 'C129 C49 C50 a turn without its reasoning',
    echo: (items) => [...items.slice(1), fco('call_a')],
    want: false,
  },
  {
    id: 'C125 the sealed copy and the visible text differ',
    echo: (items) => [
      ...items.map((item) =>
        item.type === 'reasoning' ? { ...item, content: [{ type: 'reasoning_text', text: 'other' }] } : item,
      ),
      fco('call_a'),
    ],
    want: false,
  },
  {
    id: 'C137 the ids of the turn with another text',
    echo: (items) => [
      ...items.map((item) =>
        item.type === 'message' ? { ...item, content: [{ type: 'output_text', text: 'forged' }] } : item,
      ),
      fco('call_a'),
    ],
    want: false,
  },
  {
    id: 'C139 trimmed text',
    answer: { content: '\n\nok\n\n' },
    echo: (items) => [
      ...items.map((item) => ({ ...item, content: [{ type: 'output_text', text: 'ok' }] })),
      user('next'),
    ],
    want: false,
  },
  {
    id: 'C139 white space kept',
    answer: { content: '\n\nok\n\n' },
    echo: (items) => [...items, user('next')],
    want: true,
  },
];

for (const { id, answer = FULL, echo, want } of CASES)
  test(`${id}: ${want ? 'the same turn' : 'a rewrite'}`, () => {
    assert.equal(continues(answer, echo), want);
  });

test('C129 with lineage.reasoning: optional the turn matches without its reasoning', () => {
  assert.equal(
    continues(FULL, (items) => [...items.slice(1), fco('call_a')], 'optional'),
    true,
  );
});

const ARGUMENTS: readonly (readonly [id: string, served: string, echoed: string, want: boolean])[] = [
  [
    'C138 reordered keys',
    '{"description":"d","timeout":1.0e4,"command":"c"}',
    '{"command":"c","description":"d","timeout":10000}',
    true,
  ],
  ['C141 a big integer', '{"id":2512292042121000001}', '{"id":2512292042121000000}', true],
  ['C142 spellings of one', '{"a":1.0}', '{"a":1}', true],
  ['C142 with an exponent', '{"a":1e0}', '{"a":1}', true],
  ['C143 minus zero', '{"a":-0}', '{"a":0}', true],
  ['C144 a number beyond a double', '{"a":1e400}', '{"a":null}', false],
  ['C145 integer-like keys', '{"10":1,"2":2}', '{"2":2,"10":1}', true],
  ['the last duplicate', '{"a":1,"a":2}', '{"a":2}', true],
  ['an empty string', '', '{}', true],
  ['escapes', '{"a":"d\\u00e9"}', '{"a": "dé"}', true],
  ['C150 no JSON, verbatim', '{"a": NaN}', '{"a": NaN}', true],
  ['another value', '{"a":1}', '{"a":2}', false],
  ['broken text replaced', '{bad', '{}', false],
];

for (const [id, served, echoed, want] of ARGUMENTS)
  test(`${id}: ${want ? 'equal' : 'different'} arguments`, () => {
    const echo: Echo = (items) => [
      ...items.map((item) => ('arguments' in item ? { ...item, arguments: echoed } : item)),
      fco('call_a'),
    ];
    assert.equal(continues({ content: null, toolCalls: [{ ...CALL, arguments: served }] }, echo), want);
  });

test('C141 the engine gets what the client sent', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"id": 2512292042121000000}' };
  const { messages } = convert({ model: 'm', input: [call, fco('c')] });
  assert.equal(messages[0]?.role === 'assistant' && messages[0].toolCalls[0]?.arguments, '{"id": 2512292042121000000}');
});

test('C130 C131 ids of items that the client made are no evidence', () => {
  const input = (id: string) => [
    { type: 'message', role: 'developer', id: `msg_${id}`, content: [{ type: 'input_text', text: 'base' }] },
    { type: 'message', role: 'user', id: `msg_u${id}`, content: [{ type: 'input_text', text: 'q' }] },
  ];
  const digests = (id: string) =>
    convert({ model: 'm', input: input(id) }).messages.map((message) => evidenceOf(message, 'required').digest);
  assert.deepEqual(digests('1'), digests('2'));
});

test('C133 an image is its URL to the byte; without detail it is one with auto', () => {
  const digest = (part: object) =>
    evidenceOf(
      convert({ model: 'm', input: [{ role: 'user', content: [part] }] }).messages[0] as EngineMessage,
      'required',
    ).digest;
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
  assert.equal(digest(image), digest({ ...image, detail: 'auto' }));
  assert.equal(digest(image), digest({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }));
  assert.notEqual(digest(image), digest({ ...image, image_url: 'data:image/png;base64,AAAB' }));
  assert.notEqual(digest(image), digest({ ...image, detail: 'high' }));
});
