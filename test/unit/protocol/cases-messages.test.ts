import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRefusal } from '../../../src/protocol/conversation.ts';
import { convertCountTokens } from '../../../src/protocol/messages/index.ts';
import { sealReasoning } from '../../../src/protocol/seal.ts';
import {
  assistant,
  BELOW,
  call,
  called,
  GO,
  PNG,
  PNG_UP,
  result,
  spoken,
  system,
  text,
  thinking,
  tool,
  upCall,
  user,
} from '../../support/messages-blocks.ts';
import { CONVERSION, json, up, upstream } from '../../support/messages-dialect.ts';

/**
 * conversion-cases.md: group 6.C and the other cases that concern a Messages request, with their siblings. Refusals and echoes stand in
 * cases-messages-echo.test.ts, replies in cases-messages-replies.test.ts.
 */
type Row = readonly [id: string, messages: readonly unknown[], want: readonly unknown[]];

const CACHED = { cache_control: { type: 'ephemeral' } };

const TURNS: readonly Row[] = [
  [
    'C67 one block is the string; cache_control is nowhere',
    [user(text('go', CACHED)), assistant(text('x', CACHED)), user(text('go'))],
    [GO, spoken('x'), GO],
  ],
  [
    'C67 sibling: texts of a user message stay a list, those of an assistant are concatenated',
    [user(text('a'), text('b')), assistant(text('c'), text('d')), GO],
    [{ role: 'user', content: [text('a'), text('b')] }, spoken('cd'), GO],
  ],
  [
    'C68 interleaved thinking is joined before the calls',
    [GO, assistant(thinking('r1'), call('a'), thinking('r2'), call('b')), user(result('a', '1'), result('b', '2'))],
    [GO, { ...called('a', 'b'), reasoning: 'r1\nr2' }, tool('a', '1'), tool('b', '2')],
  ],
  [
    'C69 thinking with an empty or absent signature',
    [GO, assistant(thinking('r', ''), text('x')), GO, assistant({ type: 'thinking', thinking: 'q' }, text('y')), GO],
    [GO, spoken('x', { reasoning: 'r' }), GO, spoken('y', { reasoning: 'q' }), GO],
  ],
  [
    'C69 sibling: our signature stands in for a text that was left out, never for one that differs',
    [
      GO,
      assistant(thinking('', sealReasoning('r')), text('x')),
      assistant(thinking('q', sealReasoning('r')), text('y')),
      GO,
    ],
    [GO, spoken('x', { reasoning: 'r' }), spoken('y', { reasoning: 'q' }), GO],
  ],
  [
    'C69 sibling: thinking of white space is none',
    [GO, assistant(thinking(' \n', ''), text('x')), GO],
    [GO, spoken('x'), GO],
  ],
  [
    'C70 redacted thinking is ignored unless it is ours',
    [
      GO,
      assistant({ type: 'redacted_thinking', data: 'foreign' }, text('x')),
      assistant({ type: 'redacted_thinking', data: sealReasoning('r') }, text('y')),
      GO,
    ],
    [GO, spoken('x'), spoken('y', { reasoning: 'r' }), GO],
  ],
  [
    'C104 think tags in a text are left alone',
    [GO, assistant(text('<think>r</think>x')), GO],
    [GO, spoken('<think>r</think>x'), GO],
  ],
  [
    'C136 text is text',
    [user(text('<system-reminder><total_tokens>12 tokens left'))],
    [{ role: 'user', content: '<system-reminder><total_tokens>12 tokens left' }],
  ],
  [
    'C139 white space is never trimmed',
    [user(text('  Let me look. ')), assistant(text('\n\nok\n\n')), user(result('a', ' \t')), GO],
    [{ role: 'user', content: '  Let me look. ' }, spoken('\n\nok\n\n'), tool('a', ' \t'), GO],
  ],
  [
    'an echoed Message object is its turn, whatever else it carries',
    [
      GO,
      {
        ...assistant(text('x', { citations: null }), { ...call('a'), caller: { type: 'direct' }, index: 1 }),
        id: 'msg_1',
        type: 'message',
        model: 'm',
        stop_reason: 'tool_use',
        usage: {},
      },
      user(result('a', 'r')),
    ],
    [GO, spoken('x', { tool_calls: [upCall('a')] }), tool('a', 'r')],
  ],
  [
    'assistant turns are never merged, an empty one is the empty text',
    [GO, assistant(), { role: 'assistant', content: 'a' }, assistant(text('b')), GO],
    [GO, spoken(''), spoken('a'), spoken('b'), GO],
  ],
];

const TOOLS: readonly Row[] = [
  [
    'C18 a result of several texts goes up as a list of them',
    [GO, assistant(call('a')), user(result('a', [text('one'), text('two', CACHED)]))],
    [GO, called('a'), tool('a', [text('one'), text('two')])],
  ],
  [
    'C18 sibling: one text is the string, none the empty string',
    [
      GO,
      assistant(call('a'), call('b'), call('c')),
      user(result('a', [text('one')]), result('b', []), result('c', undefined)),
    ],
    [GO, called('a', 'b', 'c'), tool('a', 'one'), tool('b', ''), tool('c', '')],
  ],
  [
    'C19 an image in a result follows in a user message',
    [GO, assistant(call('a')), user(result('a', [PNG]))],
    [GO, called('a'), tool('a', BELOW), { role: 'user', content: [PNG_UP] }],
  ],
  [
    'C19 sibling: after the run of results, over several user messages, before their text',
    [
      GO,
      assistant(call('a'), call('b')),
      user(result('a', [text('see'), PNG])),
      user(text('and'), result('b', 'done')),
    ],
    [
      GO,
      called('a', 'b'),
      tool('a', [text('see'), text(BELOW)]),
      tool('b', 'done'),
      { role: 'user', content: [PNG_UP] },
      { role: 'user', content: 'and' },
    ],
  ],
  ['C21 a call without a result is forwarded as it is', [GO, assistant(call('a')), GO], [GO, called('a'), GO]],
  [
    'C39 arguments that were no JSON come back as their text and go up as {}',
    [GO, assistant(call('a', { _raw: '{"cmd": "ec' })), user(result('a', 'r'))],
    [GO, called('a'), tool('a', 'r')],
  ],
  [
    'C72 no empty messages; results come before the text of the same message',
    [GO, assistant(call('a')), user(text('first'), result('a', 'r'), text('then'))],
    [GO, called('a'), tool('a', 'r'), { role: 'user', content: [text('first'), text('then')] }],
  ],
  [
    'C74 two results of one call are one message',
    [GO, assistant(call('a')), user(result('a', 'one'), result('a', [text('two')]))],
    [GO, called('a'), tool('a', [text('one'), text('two')])],
  ],
  [
    'C74 sibling: also where they stand in two messages, with another one between',
    [GO, assistant(call('a'), call('b')), user(result('a', 'one'), result('b', 'b')), user(result('a', 'two'))],
    [GO, called('a', 'b'), tool('a', [text('one'), text('two')]), tool('b', 'b')],
  ],
  [
    'C96 results of the same id after another turn are not merged',
    [GO, assistant(call('a')), user(result('a', 'one')), assistant(call('a')), user(result('a', 'two'))],
    [GO, called('a'), tool('a', 'one'), called('a'), tool('a', 'two')],
  ],
  [
    'C96 sibling: a turn that used one id twice waits for two results',
    [GO, assistant(call('a'), call('a')), user(result('a', 'one'), result('a', 'two'), result('a', 'three'))],
    [GO, called('a', 'a'), tool('a', 'one'), tool('a', [text('two'), text('three')])],
  ],
  [
    'C74 sibling: results without a call, each id its own message, a second result joins the first',
    [GO, user(result('x', '1'), result('y', '2'), result('x', '3'), result('y', '4'), result('x', '5'))],
    [GO, tool('x', [text('1'), text('3'), text('5')]), tool('y', [text('2'), text('4')])],
  ],
  [
    'C96 sibling: a further result of an id that was used twice joins the last of them',
    [GO, assistant(call('a'), call('a')), user(result('a', '1'), result('b', 'b'), result('a', '2'), result('a', '3'))],
    [GO, called('a', 'a'), tool('a', '1'), tool('b', 'b'), tool('a', [text('2'), text('3')])],
  ],
  [
    'C97, C98 ids are verbatim both ways',
    [GO, assistant(call('functions.list_dir:0/ä\n')), user(result('functions.list_dir:0/ä\n', 'r'))],
    [GO, called('functions.list_dir:0/ä\n'), tool('functions.list_dir:0/ä\n', 'r')],
  ],
  [
    'parallel results go up in the order of completion',
    [GO, assistant(call('a'), call('b')), user(result('b', '2'), result('a', '1'))],
    [GO, called('a', 'b'), tool('b', '2'), tool('a', '1')],
  ],
  [
    'is_error: true reaches the model as a text of its own; false is absent',
    [
      GO,
      assistant(call('a'), call('b')),
      user(result('a', 'boom', { is_error: true }), result('b', 'ok', { is_error: false })),
    ],
    [GO, called('a', 'b'), tool('a', [text('[tool error]'), text('boom')]), tool('b', 'ok')],
  ],
  [
    'an empty error result says only that it is one',
    [GO, assistant(call('a')), user(result('a', null, { is_error: true }))],
    [GO, called('a'), tool('a', '[tool error]')],
  ],
  [
    'a loaded tool is named to the model',
    [GO, assistant(call('a')), user(result('a', [{ type: 'tool_reference', tool_name: 'Grep' }]))],
    [GO, called('a'), tool('a', '[tool available: Grep]')],
  ],
];

const CONTENT: readonly Row[] = [
  [
    'C16 a late system message goes up as user, in its place',
    [GO, assistant(text('ok')), system([text('<model_switch>')]), GO],
    [GO, spoken('ok'), { role: 'user', content: '<model_switch>' }, GO],
  ],
  [
    'C71 a system message between messages, list or string',
    [GO, system('note'), system([text('note')]), assistant(text('x')), GO],
    [GO, { role: 'user', content: 'note' }, { role: 'user', content: 'note' }, spoken('x'), GO],
  ],
  [
    'C23 images of a user message, by data and by URL',
    [user(text('look'), PNG, { type: 'image', source: { type: 'url', url: 'https://e/x.png' }, ...CACHED })],
    [{ role: 'user', content: [text('look'), PNG_UP, { type: 'image_url', image_url: { url: 'https://e/x.png' } }] }],
  ],
  [
    "C25 parts under another dialect's names are tolerated",
    [user({ type: 'input_text', text: 'x' }, { type: 'image_url', image_url: { url: 'u' } })],
    [{ role: 'user', content: [text('x'), { type: 'image_url', image_url: { url: 'u' } }] }],
  ],
  [
    "C23 the detail of an image that stands under another dialect's name",
    [
      user(
        { type: 'image_url', image_url: { url: 'u', detail: 'high' } },
        { type: 'image_url', image_url: { url: 'v' }, detail: 'low' },
      ),
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'u', detail: 'high' } },
          { type: 'image_url', image_url: { url: 'v', detail: 'low' } },
        ],
      },
    ],
  ],
  [
    'documents and search results are text',
    [
      user(
        { type: 'document', title: 'T', context: 'C', source: { type: 'text', media_type: 'text/plain', data: 'D' } },
        { type: 'document', citations: { enabled: true }, source: { type: 'content', content: [text('E'), PNG] } },
        { type: 'document', source: { type: 'content', content: 'F' } },
        { type: 'search_result', title: 'T2', source: 'https://e', content: [text('G')] },
      ),
    ],
    [
      {
        role: 'user',
        content: [
          ...['T', 'C', 'D', 'E'].map((one) => text(one)),
          PNG_UP,
          ...['F', 'T2', 'https://e', 'G'].map((one) => text(one)),
        ],
      },
    ],
  ],
];

const HEADER = 'x-anthropic-billing-header: cc_version=2.1.100.7b4; cc_entrypoint=cli; cch=eb6c6;';
const AGENT = 'You are an agent.';

/** A system prompt, the system messages that lead the list, and the content of the one that goes up (undefined: none). */
const SYSTEM: readonly (readonly [id: string, prompt: unknown, leading: readonly unknown[], want: unknown])[] = [
  [
    'C65 the billing header is removed if it is the first block',
    [text(HEADER), text(AGENT), text('Rules.', CACHED)],
    [],
    [text(AGENT), text('Rules.')],
  ],
  ['C65 the header of a sub-agent', [text(`${HEADER.slice(0, -1)}; cc_is_subagent=true;`), text(AGENT)], [], AGENT],
  [
    'C65 a system prompt of nothing else is none',
    'x-anthropic-billing-header: cc_version=2.1.328.593; cc_entrypoint=sdk-cli;',
    [],
    undefined,
  ],
  ['C65 a later block with the header stays', [text(AGENT), text(HEADER)], [], [text(AGENT), text(HEADER)]],
  [
    'C65 a first block that only begins like it stays',
    [text(`${HEADER} Answer in French.`), text('R')],
    [],
    [text(`${HEADER} Answer in French.`), text('R')],
  ],
  [
    'C65 a text about the header stays',
    'x-anthropic-billing-header: what is it?',
    [],
    'x-anthropic-billing-header: what is it?',
  ],
  ['C17 the prompt and leading system messages are one system message', 'A', [system('B'), system('C')], 'A\n\nB\n\nC'],
  [
    'C17 a prompt of several blocks keeps them',
    [text('A'), text('B')],
    [system('C')],
    [text('A'), text('B'), text('C')],
  ],
  ['a leading system message alone', undefined, [system([text('B')])], 'B'],
  ['a developer is the system', undefined, [{ role: 'developer', content: 'B' }], 'B'],
  ['nothing said', '', [system([])], undefined],
  ['null', null, [], undefined],
];

for (const [name, rows] of Object.entries({ turns: TURNS, tools: TOOLS, content: CONTENT }))
  describe(`requests to upstream messages: ${name}`, () => {
    for (const [id, messages, want] of rows) test(id, () => assert.deepEqual(up(messages), want));
  });

describe('requests to upstream messages: system', () => {
  for (const [id, prompt, leading, want] of SYSTEM)
    test(id, () => {
      const expected = want === undefined ? [GO] : [{ role: 'system', content: want }, GO];
      assert.deepEqual(up([...leading, GO], { system: prompt }), expected);
    });
});

test('an uncaptured prefill is continued by the engine', () => {
  const prefilled = [GO, assistant(text('The answer is ('))];
  assert.deepEqual(upstream({ model: 'm', max_tokens: 1, messages: prefilled }, { captured: false }), {
    model: 'm',
    messages: [GO, spoken('The answer is (')],
    max_tokens: 1,
    add_generation_prompt: false,
    continue_final_message: true,
  });
});

test('C78 count_tokens: the same conversion, without max_tokens, also for a history that ends in an assistant turn', () => {
  const body = { model: 'm', system: 'S', compaction: { type: 'summarize' }, messages: [GO, assistant(text('x'))] };
  const counted = convertCountTokens(json(JSON.stringify(body)), CONVERSION);
  assert.ok(!isRefusal(counted));
  assert.deepEqual(
    counted.messages.map(({ role, content }) => [role, content]),
    [
      ['system', 'S'],
      ['user', 'go'],
      ['assistant', 'x'],
    ],
  );
});
