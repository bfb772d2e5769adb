import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assistant, call, GO, PNG, result, system, text, thinking, user } from '../../../support/messages-blocks.ts';
import { convert } from '../../../support/messages-dialect.ts';

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
});
