import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evidenceOf } from '../../../src/lineage/evidence.ts';
import { renderDigest } from '../../../src/lineage/render-digest.ts';
import type { EngineMessage } from '../../../src/protocol/conversation.ts';
import { assistant, call, GO, result, text, thinking, user } from '../../support/messages-blocks.ts';
import { convert, refuse } from '../../support/messages-dialect.ts';

/** conversion-cases.md, Messages: what is refused, what an echo may change, and what makes it a rewrite (group 6.F and its like). */

const FILE = { type: 'file', file_id: 'file_1' };
const PDF = { type: 'base64', media_type: 'application/pdf', data: 'AA' };

const REFUSED: readonly (readonly [id: string, messages: readonly unknown[], param: string])[] = [
  ['C24 an image by file id', [user(text('x'), { type: 'image', source: FILE })], 'messages[0].content[1].source.type'],
  ['C24 a PDF', [user({ type: 'document', source: PDF })], 'messages[0].content[0].source.type'],
  ['C24 an upload', [GO, assistant(text('x')), user({ type: 'container_upload' })], 'messages[2].content[0].type'],
  ['C47 an unknown block', [user({ type: 'wonder', x: 1 })], 'messages[0].content[0].type'],
  [
    'C47 an unknown block in a result',
    [user(result('a', [{ type: 'wonder' }]))],
    'messages[0].content[0].content[0].type',
  ],
  [
    'C47 a block of the provider',
    [GO, assistant({ type: 'server_tool_use', id: 's' }), GO],
    'messages[1].content[0].type',
  ],
  ['C71 an unknown role', [{ role: 'wonder', content: 'x' }], 'messages[0].role'],
  ['no role', [{ content: 'x' }], 'messages[0].role'],
  ['a call of the user', [user(call('a'))], 'messages[0].content[0].type'],
  ['a result of the assistant', [GO, assistant(result('a', 'x')), GO], 'messages[1].content[0].type'],
  ['a message that is no object', ['hi'], 'messages[0]'],
  ['a block that is no object', [user(7)], 'messages[0].content[0]'],
  ['a text that is no string', [user({ type: 'text', text: 1 })], 'messages[0].content[0].text'],
  ['content that is no list', [{ role: 'user', content: 7 }], 'messages[0].content'],
  ['content of an assistant that is no list', [GO, { role: 'assistant', content: {} }, GO], 'messages[1].content'],
  ['a result without its call', [user({ type: 'tool_result', content: 'x' })], 'messages[0].content[0].tool_use_id'],
  ['is_error that is no boolean', [user(result('a', 'x', { is_error: 'yes' }))], 'messages[0].content[0].is_error'],
  ['a call without a name', [GO, assistant({ type: 'tool_use', id: 'a' }), GO], 'messages[1].content[0].name'],
  ['an id that is no string', [GO, assistant({ ...call('a'), id: 7 }), GO], 'messages[1].content[0].id'],
  [
    'thinking that is no string',
    [GO, assistant({ type: 'thinking', thinking: 7 }), GO],
    'messages[1].content[0].thinking',
  ],
  [
    'image data that is no string',
    [user({ type: 'image', source: { type: 'base64', media_type: 'image/png' } })],
    'messages[0].content[0].source.data',
  ],
  ['no messages', [], 'messages'],
  ['C125 a prefill, under capture', [GO, assistant(text('The answer is ('))], 'messages'],
];

describe('refusals name the block', () => {
  for (const [id, messages, param] of REFUSED)
    test(id, () => {
      const refusal = refuse({ model: 'm', max_tokens: 1, messages });
      assert.equal(refusal.param, param);
      assert.ok(refusal.message.startsWith(`${param}: `), refusal.message);
    });
});

/** Evidence of an assistant turn whose content is this JSON text. */
function digest(content: string): string {
  const turn = `{"role":"assistant","content":${content}}`;
  const request = convert(`{"messages":[{"role":"user","content":"go"},${turn},{"role":"user","content":"go"}]}`);
  return evidenceOf(request.messages[1] as EngineMessage, 'required').digest;
}

const bash = (input: unknown) => ({ ...call('a', input), name: 'Bash' });

const ECHOES: readonly (readonly [id: string, served: unknown, echoed: unknown, same: boolean])[] = [
  ['C67 a string for the list of one text', [text('x')], 'x', true],
  [
    'C75 a rewritten input',
    [bash({ command: 'cd  && pwd  ', timeout: '5000' })],
    [bash({ command: 'pwd  ', timeout: 5000 })],
    false,
  ],
  ['C76 trailing white space removed', [bash({ content: 'a  \nb' })], [bash({ content: 'a\nb' })], false],
  ['C76 keys in another order', [bash({ path: 'p', all: false })], [bash({ all: false, path: 'p' })], true],
  ['C59 broken arguments, as they were served', [bash({ _raw: '{bad json' })], [bash({ _raw: '{bad json' })], true],
  [
    'C59 broken arguments in a wrapper of the client',
    [bash({ _raw: '{bad' })],
    [bash({ __unparsedToolInput: { raw: '{bad', len: 4 } })],
    false,
  ],
  ['C59 broken arguments dropped', [bash({ _raw: '{bad json' })], [bash({})], false],
  ['C126 a partial text', [text('partial text')], [text('par')], false],
  ['C125 a call left out', [text('x'), call('a')], [text('x')], false],
  ['C49 thinking left out', [thinking('r'), text('x')], [text('x')], false],
  ['thinking doubled', [thinking('r'), text('x')], [thinking('r'), thinking('r'), text('x')], false],
  ['another signature beside the same thinking', [thinking('r'), text('x')], [thinking('r', ''), text('x')], true],
  ['C139 a white-space text dropped', [text('x'), text('\n')], [text('x')], false],
  ['C137 another call id', [call('a')], [call('b')], false],
  ['calls in another order', [call('a'), call('b')], [call('b'), call('a')], false],
  ['calls as prose', [call('a')], [text('I called f with {}')], false],
  [
    'an annotated echo',
    [text('x'), call('a')],
    [text('x', { citations: null, index: 0 }), { ...call('a'), caller: null }],
    true,
  ],
];

const INPUTS: readonly (readonly [id: string, served: string, echoed: string, same: boolean])[] = [
  [
    'C138',
    '{"description":"d","timeout":1.0e4,"command":"c"}',
    '{"command":"c","description":"d","timeout":10000}',
    true,
  ],
  ['C141', '{"id":2512292042121000001}', '{"id":2512292042121000000}', true],
  ['C142', '{"a":1.0}', '{"a":1}', true],
  ['C142 with an exponent', '{"a":1e0}', '{"a":1}', true],
  ['C143', '{"a":-0}', '{"a":0}', true],
  ['C144', '{"a":1e400}', '{"a":null}', false],
  ['C145', '{"10":1,"2":2}', '{"2":2,"10":1}', true],
  ['C148 a lone surrogate', '{"a":"\\ud83d"}', '{ "a" : "\\uD83D" }', true],
  ['C148 a lone surrogate replaced', '{"a":"\\ud83d"}', '{"a":"\\ufffd"}', false],
  ['escapes', '{"a":"\\u00e9\\/"}', '{"a":"é/"}', true],
  ['the last duplicate wins', '{"a":1,"a":2}', '{"a":2}', true],
];

describe('what an echo may change, and what makes it a rewrite', () => {
  for (const [id, served, echoed, same] of ECHOES)
    test(id, () => assert.equal(digest(JSON.stringify(served)) === digest(JSON.stringify(echoed)), same));
  for (const [id, served, echoed, same] of INPUTS)
    test(id, () => {
      const content = (input: string) => `[{"type":"tool_use","id":"a","name":"f","input":${input}}]`;
      assert.equal(digest(content(served)) === digest(content(echoed)), same);
    });
});

test('is_error: true makes another message, false does not', () => {
  const evidence = (more: object) =>
    evidenceOf(
      convert({ messages: [GO, assistant(call('a')), user(result('a', 'boom', more))] }).messages[2] as EngineMessage,
      'required',
    ).digest;
  assert.equal(evidence({ is_error: false }), evidence({}));
  assert.notEqual(evidence({ is_error: true }), evidence({}));
});

test('C135 other tools are other render options', () => {
  const declared = (name: string) => ({ name, input_schema: { type: 'object' } });
  const render = (tools: readonly object[]) => renderDigest(convert({ model: 'm', messages: [GO], tools }).fields);
  const annotated = { ...declared('a'), cache_control: { type: 'ephemeral' }, defer_loading: true };
  assert.deepEqual(render([declared('a')]), render([annotated]));
  assert.notDeepEqual(render([declared('a')]), render([declared('a'), declared('b')]));
});
