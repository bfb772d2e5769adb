import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  assistantFingerprint,
  conversationDigest,
  fingerprintAssistant,
} from '../../../../src/lineage/fingerprints.ts';
import { recordOutput } from '../../../../src/lineage/output-items.ts';
import type { JsonNode } from '../../../../src/protocol/json/json-node.ts';
import { messages } from '../../../../src/protocol/messages/index.ts';
import { anyAnswer } from '../../../support/answers.ts';
import { assistant, call, GO, PNG, result, system, text, thinking, user } from '../../../support/messages-blocks.ts';
import { ANSWER, convert, json, REPLY } from '../../../support/messages-dialect.ts';

const itemsOf = (list: readonly unknown[]) =>
  convert({ messages: list }, { captured: false }).fingerprintItems.map(
    (item) => JSON.parse(item.rawText()) as unknown,
  );
const message = (role: string, content: unknown) => ({ role, content, type: 'message' });

describe('messages as Responses items (protocol section 13)', () => {
  const rows: readonly (readonly [id: string, list: readonly unknown[], want: readonly unknown[]])[] = [
    [
      'strings and single texts',
      [GO, assistant(text('x')), system('s')],
      [message('user', 'go'), message('assistant', 'x'), message('system', 's')],
    ],
    [
      'several parts',
      [user(text('a', { cache_control: {} }), PNG, text('b'))],
      [
        message('user', [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
          { type: 'input_text', text: 'b' },
        ]),
      ],
    ],
    [
      'a turn, block by block in its order',
      [
        GO,
        assistant(thinking('r'), text('a'), text('b'), call('i', { q: 1 }), text('c')),
        user(text('t'), result('i', 'out')),
      ],
      [
        message('user', 'go'),
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'r' }] },
        message('assistant', [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b' },
        ]),
        { type: 'function_call', id: 'i', call_id: 'i', name: 'f', arguments: { q: 1 }, status: 'completed' },
        message('assistant', 'c'),
        message('user', 't'),
        { type: 'function_call_output', call_id: 'i', output: 'out' },
      ],
    ],
    [
      'outputs: texts joined, parts where an image is among them, none empty',
      [
        user(result('a', [text('x'), text('y')]), result('b', [text('x'), PNG]), {
          type: 'tool_result',
          tool_use_id: 'c',
        }),
      ],
      [
        { type: 'function_call_output', call_id: 'a', output: 'x\ny' },
        {
          type: 'function_call_output',
          call_id: 'b',
          output: [
            { type: 'input_text', text: 'x' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
          ],
        },
        { type: 'function_call_output', call_id: 'c', output: '' },
      ],
    ],
    ['no content', [GO, assistant(), { role: 'assistant' }], [message('user', 'go'), message('assistant', '')]],
    [
      'arguments that were no JSON',
      [GO, assistant(call('i', { _raw: '{bad' }))],
      [
        message('user', 'go'),
        { type: 'function_call', id: 'i', call_id: 'i', name: 'f', arguments: '{bad', status: 'completed' },
      ],
    ],
  ];
  for (const [id, list, want] of rows) test(id, () => assert.deepEqual(itemsOf([...list, GO]).slice(0, -1), want));

  test('the envelope: system prompt and custom tools', () => {
    const tools = [
      { name: 'f', description: 'd', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'w' },
    ];
    const request = convert({ system: [text('A'), text(''), text('B')], tools, messages: [GO] });
    assert.equal(
      request.envelope,
      '{"instructions": "A\\nB", "tools": [{"description": "d", "name": "f", "parameters": {"type": "object"}, "strict": false, "type": "function"}]}',
    );
    assert.equal(convert({ messages: [GO] }).envelope, null);
  });
});

test('request and output fingerprint like the next request, whose history they are', () => {
  fc.assert(
    fc.property(anyAnswer(), (answer) => {
      const first = convert({ messages: [GO] });
      const reply = messages.render(first, answer, REPLY);
      const content = json(reply.json.toString('utf8')).get('content')?.rawText();
      const next = convert(
        `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":${content}},{"role":"user","content":"on"}]}`,
      );
      const both = [...first.fingerprintItems, ...reply.outputItems];
      assert.deepEqual(fingerprintAssistant(both), fingerprintAssistant(next.fingerprintItems));
    }),
    { numRuns: 200 },
  );
});

test('items that are put together fingerprint like the same items parsed', () => {
  const list = [
    GO,
    assistant(thinking('r'), text('é'), text('b'), call('i', { q: 1.5 })),
    user(result('i', [text('x'), PNG]), text('t'), PNG),
  ];
  const items = convert({ messages: list }).fingerprintItems;
  const parsed: JsonNode[] = items.map((item) => json(item.rawText()));
  assert.deepEqual(fingerprintAssistant(items), fingerprintAssistant(parsed));
  assert.deepEqual(conversationDigest(items, 2), conversationDigest(parsed, 2));
  assert.match(conversationDigest(items, 2) ?? '', /^[0-9a-f]{64}$/);
});

test('what a record says of a reply: no id for the message, the id of the call for the call', () => {
  const reply = messages.render(
    convert({ messages: [GO] }),
    { ...ANSWER, content: 'x', reasoning: 'r', toolCalls: [{ id: 'call_1', name: 'f', arguments: '{"q":1}' }] },
    REPLY,
  );
  const { rows, last } = recordOutput(reply.outputItems);
  const fingerprint = (list: readonly unknown[]) =>
    assistantFingerprint(list.map((item) => json(JSON.stringify(item))));
  assert.deepEqual(rows, [
    { schema_version: 3, id: null, fingerprint: fingerprint([{ role: 'assistant', content: 'x' }]) },
    {
      schema_version: 3,
      id: 'call_1',
      fingerprint: fingerprint([{ type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{ "q": 1 }' }]),
    },
  ]);
  assert.deepEqual(last, { type: 'function_call' });
});
