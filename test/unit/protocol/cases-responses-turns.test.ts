import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealReasoning } from '../../../src/protocol/seal.ts';
import { up } from '../../support/responses-dialect.ts';
import { call, fc, fco, image, said, thought, tool, turn, user } from '../../support/responses-items.ts';

/** Conversion cases 6.A: which items are one turn, and what its reasoning is. */

interface Case {
  readonly id: string;
  readonly input: readonly object[];
  readonly want: readonly object[];
}

const CASES: readonly Case[] = [
  { id: 'C1 message and call are one turn', input: [said('look'), fc('c1')], want: [turn('look', call('c1'))] },
  {
    id: 'C1 also in the middle of a history',
    input: [user('q'), said('look'), fc('c1'), fco('c1'), said('done')],
    want: [user('q'), turn('look', call('c1')), tool('c1'), turn('done')],
  },
  {
    id: 'C2 parallel calls',
    input: [fc('a'), fc('b'), fco('a'), fco('b')],
    want: [turn(null, call('a'), call('b')), tool('a'), tool('b')],
  },
  {
    id: 'C2 outputs in the order of completion',
    input: [fc('a'), fc('b'), fco('b', '2'), fco('a', '1')],
    want: [turn(null, call('a'), call('b')), tool('b', '2'), tool('a', '1')],
  },
  {
    id: 'C3 sequential calls',
    input: [fc('a'), fco('a'), fc('b'), fco('b')],
    want: [turn(null, call('a')), tool('a'), turn(null, call('b')), tool('b')],
  },
  {
    id: 'C3 sequential calls with reasoning before each',
    input: [thought('r1'), fc('a'), fco('a'), thought('r2'), fc('b'), fco('b')],
    want: [
      { ...turn(null, call('a')), reasoning: 'r1' },
      tool('a'),
      { ...turn(null, call('b')), reasoning: 'r2' },
      tool('b'),
    ],
  },
  {
    id: 'C5 reasoning between message and call',
    input: [said('x'), thought('r'), fc('a')],
    want: [{ ...turn('x', call('a')), reasoning: 'r' }],
  },
  {
    id: 'C5 several reasoning items between message and call',
    input: [said('x'), thought('r'), thought('s'), fc('a')],
    want: [{ ...turn('x', call('a')), reasoning: 'r\ns' }],
  },
  {
    id: 'C6 reasoning opens a turn',
    input: [said('a'), thought('r2'), said('b')],
    want: [turn('a'), { ...turn('b'), reasoning: 'r2' }],
  },
  {
    id: 'C6 reasoning at the end of a turn without call opens one of its own',
    input: [said('a'), thought('r2'), user('go on')],
    want: [turn('a'), { ...turn(''), reasoning: 'r2' }, user('go on')],
  },
  {
    id: 'a second message item opens a turn',
    input: [said('a'), said('b'), user('q')],
    want: [turn('a'), turn('b'), user('q')],
  },
  {
    id: 'a second message item joins while a call has no output',
    input: [said('a'), fc('c'), said('b'), fco('c')],
    want: [turn('ab', call('c')), tool('c')],
  },
  {
    id: 'reasoning and a call join while another call has no output',
    input: [fc('a'), fc('b'), fco('a'), thought('r'), fc('c'), fco('b'), fco('c')],
    want: [{ ...turn(null, call('a'), call('b'), call('c')), reasoning: 'r' }, tool('a'), tool('b'), tool('c')],
  },
  {
    id: 'nothing joins over a message of the user',
    input: [fc('a'), user('q'), fc('b'), fco('b')],
    want: [turn(null, call('a')), user('q'), turn(null, call('b')), tool('b')],
  },
  {
    id: 'C8 several reasoning parts',
    input: [
      {
        type: 'reasoning',
        content: [
          { type: 'reasoning_text', text: 'a' },
          { type: 'reasoning_text', text: 'b' },
        ],
      },
      said('x'),
    ],
    want: [{ ...turn('x'), reasoning: 'a\nb' }],
  },
  {
    id: 'C8 summary parts where content is empty',
    input: [
      {
        type: 'reasoning',
        content: [],
        summary: [
          { type: 'summary_text', text: 'a' },
          { type: 'summary_text', text: 'b' },
        ],
      },
      said('x'),
    ],
    want: [{ ...turn('x'), reasoning: 'a\nb' }],
  },
  {
    id: 'C8 content counts where summary differs',
    input: [{ ...thought('long'), summary: [{ type: 'summary_text', text: 'short' }] }, said('x')],
    want: [{ ...turn('x'), reasoning: 'long' }],
  },
  {
    id: 'C9 our own sealed value',
    input: [
      { type: 'reasoning', summary: [], content: null, encrypted_content: sealReasoning('r\ud83d é') },
      said('x'),
    ],
    want: [{ ...turn('x'), reasoning: 'r\ud83d é' }],
  },
  {
    id: 'C9 a foreign value alone is dropped',
    input: [{ type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAAAABfoo' }, said('x')],
    want: [turn('x')],
  },
  {
    id: 'C9 a foreign value beside a summary',
    input: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'gAAAAABfoo' },
      said('x'),
    ],
    want: [{ ...turn('x'), reasoning: 's' }],
  },
  {
    id: 'C9 the visible text goes up where a sealed copy differs',
    input: [{ ...thought('seen'), encrypted_content: sealReasoning('sealed') }, said('x')],
    want: [{ ...turn('x'), reasoning: 'seen' }],
  },
  {
    id: 'C10 no id and no status',
    input: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
    want: [turn('Hi')],
  },
  {
    id: 'C10 no type either, content as a string',
    input: [{ role: 'assistant', content: 'Hi' }],
    want: [turn('Hi')],
  },
  {
    id: 'C11 null id',
    input: [
      {
        type: 'message',
        role: 'assistant',
        id: null,
        status: 'completed',
        content: [{ type: 'output_text', text: 'hi', annotations: [] }],
      },
    ],
    want: [turn('hi')],
  },
  {
    id: 'C12 nulls of a model dump',
    input: [
      { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: null, status: null },
      { ...said('x'), id: null, status: null, phase: null },
      { ...fc('a'), id: null, status: null, namespace: null, caller: null },
      { ...fco('a'), id: null, status: null },
    ],
    want: [turn('x', call('a')), tool('a')],
  },
  {
    id: 'C20 several outputs of one call are one',
    input: [
      fc('a'),
      fco('a', [{ type: 'input_text', text: 'one' }]),
      fco('a', [{ type: 'input_text', text: 'two' }]),
      fco('a', [{ type: 'input_image', image_url: 'u' }]),
    ],
    want: [
      turn(null, call('a')),
      tool('a', [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
        { type: 'text', text: '[image attached below]' },
      ]),
      { role: 'user', content: [image('u')] },
    ],
  },
  {
    id: 'C20 also with an output of another call between',
    input: [fc('a'), fc('b'), fco('a', '1'), fco('b', '2'), fco('a', '3')],
    want: [
      turn(null, call('a'), call('b')),
      tool('a', [
        { type: 'text', text: '1' },
        { type: 'text', text: '3' },
      ]),
      tool('b', '2'),
    ],
  },
  {
    id: 'C21 a call without output',
    input: [fc('a'), user('go on')],
    want: [turn(null, call('a')), user('go on')],
  },
  {
    id: 'C96 call ids that repeat from turn to turn pair by adjacency',
    input: [fc('list_dir:0'), fco('list_dir:0', '1'), fc('list_dir:0'), fco('list_dir:0', '2')],
    want: [
      turn(null, call('list_dir:0')),
      tool('list_dir:0', '1'),
      turn(null, call('list_dir:0')),
      tool('list_dir:0', '2'),
    ],
  },
  {
    id: 'C96 two calls of one id in one turn keep two outputs',
    input: [fc('x'), fc('x'), fco('x', '1'), fco('x', '2')],
    want: [turn(null, call('x'), call('x')), tool('x', '1'), tool('x', '2')],
  },
  {
    id: 'C127 an output that a client put between the calls',
    input: [
      fc('a'),
      {
        type: 'local_shell_call',
        call_id: 'c6',
        action: { type: 'exec', command: ['ls'], env: {} },
        status: 'completed',
      },
      fco('c6', 'aborted'),
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      said('m'),
      fco('a'),
    ],
    want: [
      turn('m', call('a'), call('c6', '{"type":"exec","command":["ls"],"env":{}}', 'local_shell')),
      tool('c6', 'aborted'),
      tool('a'),
    ],
  },
];

for (const { id, input, want } of CASES)
  test(id, () => {
    assert.deepEqual(up(input), want);
  });
