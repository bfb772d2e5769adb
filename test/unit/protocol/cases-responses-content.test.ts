import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealReasoning } from '../../../src/protocol/seal.ts';
import { up } from '../../support/responses-dialect.ts';
import { call, fc, fco, image, said, tool, turn, user } from '../../support/responses-items.ts';

/** Conversion cases 6.A: what stands in messages, tool outputs and calls. */

interface Case {
  readonly id: string;
  readonly input: readonly object[];
  readonly want: readonly object[];
}

const CASES: readonly Case[] = [
  {
    id: 'C16 a late developer message stays in its place',
    input: [
      user('q'),
      said('a'),
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<model_switch>' }] },
      user('next'),
    ],
    want: [user('q'), turn('a'), user('<model_switch>'), user('next')],
  },
  {
    id: 'C16 a late system message, too',
    input: [user('q'), { role: 'system', content: 's' }],
    want: [user('q'), user('s')],
  },
  {
    id: 'C18 tool output as parts',
    input: [
      fc('c1'),
      fco('c1', [
        { type: 'input_text', text: 'one' },
        { type: 'input_text', text: 'two' },
      ]),
    ],
    want: [
      turn(null, call('c1')),
      tool('c1', [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ]),
    ],
  },
  {
    id: 'C18 a list of one part is its text',
    input: [fc('c1'), fco('c1', [{ type: 'input_text', text: 'one' }])],
    want: [turn(null, call('c1')), tool('c1', 'one')],
  },
  {
    id: 'C19 image in a tool output',
    input: [fc('c1'), fco('c1', [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'high' }])],
    want: [
      turn(null, call('c1')),
      tool('c1', '[image attached below]'),
      { role: 'user', content: [image('data:image/png;base64,AAAA', 'high')] },
    ],
  },
  {
    id: 'C19 images of several outputs follow the whole run',
    input: [
      fc('a'),
      fc('b'),
      fco('a', [
        { type: 'input_text', text: 'one' },
        { type: 'input_image', image_url: 'u1' },
      ]),
      fco('b', [{ type: 'input_image', image_url: 'u2' }]),
      user('look'),
    ],
    want: [
      turn(null, call('a'), call('b')),
      tool('a', [
        { type: 'text', text: 'one' },
        { type: 'text', text: '[image attached below]' },
      ]),
      tool('b', '[image attached below]'),
      { role: 'user', content: [image('u1'), image('u2')] },
      user('look'),
    ],
  },
  {
    id: 'C19 image in a custom tool output',
    input: [
      { type: 'custom_tool_call', call_id: 'c', name: 'view', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'u' }] },
    ],
    want: [
      turn(null, call('c', '{"input":"x"}', 'view')),
      tool('c', '[image attached below]'),
      { role: 'user', content: [image('u')] },
    ],
  },
  {
    id: 'C23 user image without detail',
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,x' }] }],
    want: [{ role: 'user', content: [image('data:,x')] }],
  },
  {
    id: 'C23 detail null is none',
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,x', detail: null }] }],
    want: [{ role: 'user', content: [image('data:,x')] }],
  },
  {
    id: 'C23 text and image with detail',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'what?' },
          { type: 'input_image', image_url: 'u', detail: 'low' },
        ],
      },
    ],
    want: [{ role: 'user', content: [{ type: 'text', text: 'what?' }, image('u', 'low')] }],
  },
  {
    id: 'C25 Chat parts in a Responses message',
    input: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x' },
          { type: 'image_url', image_url: { url: 'u' } },
        ],
      },
    ],
    want: [{ role: 'user', content: [{ type: 'text', text: 'x' }, image('u')] }],
  },
  {
    id: 'C28 custom call and output',
    input: [
      { type: 'custom_tool_call', status: 'completed', call_id: 'call_1', name: 'apply_patch', input: '*** Begin\n' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
    ],
    want: [turn(null, call('call_1', '{"input":"*** Begin\\n"}', 'apply_patch')), tool('call_1', 'done')],
  },
  {
    id: 'C39 malformed arguments go up as an empty object',
    input: [fc('c', '{"cmd": "ec'), fco('c')],
    want: [turn(null, call('c', '{}')), tool('c')],
  },
  {
    id: 'C39 arguments that are no object, too',
    input: [fc('c', '"text"'), fco('c')],
    want: [turn(null, call('c', '{}')), tool('c')],
  },
  {
    id: 'C44 a compaction item that we sealed is a user message',
    input: [{ type: 'compaction', encrypted_content: sealReasoning('what happened') }, user('go on')],
    want: [user('what happened'), user('go on')],
  },
];

for (const { id, input, want } of CASES)
  test(id, () => {
    assert.deepEqual(up(input), want);
  });
