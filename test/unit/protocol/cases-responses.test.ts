import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CAPTURED, convert, field, refuse, up } from '../../support/responses-dialect.ts';
import { fc, fco, user } from '../../support/responses-items.ts';

/** Conversion cases 6.A: the request around its items, and what is refused. Items: cases-responses-turns, cases-responses-content. */

test('C17 instructions and leading developer messages are one system message', () => {
  const input = [{ role: 'developer', content: 'B' }, { role: 'developer', content: 'C' }, user('q')];
  assert.deepEqual(up(input, { instructions: 'A' }), [{ role: 'system', content: 'A\n\nB\n\nC' }, user('q')]);
  assert.deepEqual(up(input), [{ role: 'system', content: 'B\n\nC' }, user('q')]);
  assert.deepEqual(up([user('q')], { instructions: 'A' }), [{ role: 'system', content: 'A' }, user('q')]);
  assert.deepEqual(up([user('q')], { instructions: '' }), [user('q')]);
});

test('C38 a string, a message and an easy message are the same', () => {
  const want = [user('hi')];
  assert.deepEqual(up('hi'), want);
  assert.deepEqual(up([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }]), want);
  assert.deepEqual(up([{ role: 'user', content: 'hi' }]), want);
});

test('C39 the evidence keeps arguments that are no JSON', () => {
  const { messages } = convert({ model: 'm', input: [fc('c', '{"cmd": "ec'), fco('c')] });
  assert.ok(messages[0]?.role === 'assistant');
  assert.deepEqual(messages[0].toolCalls, [{ id: 'c', name: 'f', arguments: '{"cmd": "ec' }]);
});

interface Refusal {
  readonly id: string;
  readonly body: object;
  readonly param: string;
  readonly message: RegExp;
}

const REFUSALS: readonly Refusal[] = [
  {
    id: 'C14 item_reference',
    body: { input: [user('q'), { type: 'item_reference', id: 'rs_1' }] },
    param: 'input[1].type',
    message: /^input\[1\]\.type: item_reference "rs_1" .*send full items \(store: false\)$/,
  },
  {
    id: 'C14 item_reference without its type',
    body: { input: [user('q'), { id: 'msg_1' }] },
    param: 'input[1].type',
    message: /item_reference "msg_1"/,
  },
  {
    id: 'C15 previous_response_id',
    body: { input: 'again', previous_response_id: 'resp_1', instructions: 'new' },
    param: 'previous_response_id',
    message: /send the full history/,
  },
  {
    id: 'C24 image by file_id',
    body: { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
    param: 'input[0].content[0].file_id',
    message: /^input\[0\]\.content\[0\]\.file_id: /,
  },
  {
    id: 'C24 input_file',
    body: { input: [{ role: 'user', content: ['x', { type: 'input_file', file_id: 'file_1' }] }] },
    param: 'input[0].content[1]',
    message: /^input\[0\]\.content\[1\]: file parts/,
  },
  {
    id: 'C24 file in a tool output',
    body: { input: [fc('c'), fco('c', [{ type: 'input_file', file_data: 'x' }]), user('q')] },
    param: 'input[1].output[0]',
    message: /^input\[1\]\.output\[0\]: file parts/,
  },
  {
    id: 'C43 compaction_trigger',
    body: { input: [user('q'), { type: 'compaction_trigger' }] },
    param: 'input[1].type',
    message: /compaction_trigger is not supported; name the provider differently to compact locally$/,
  },
  {
    id: 'C44 a foreign compaction item',
    body: { input: [{ type: 'compaction', encrypted_content: 'gAAAA' }, user('q')] },
    param: 'input[0].encrypted_content',
    message: /compact locally/,
  },
  {
    id: 'C47 unknown item type',
    body: { input: [user('q'), { type: 'wonder', x: 1 }] },
    param: 'input[1].type',
    message: /"wonder"/,
  },
  {
    id: 'C47 a type that is a name of JavaScript itself',
    body: { input: [{ type: 'constructor' }] },
    param: 'input[0].type',
    message: /"constructor"/,
  },
  {
    id: 'C47 unknown part type',
    body: { input: [{ role: 'user', content: [{ type: 'wonder' }] }] },
    param: 'input[0].content[0].type',
    message: /"wonder"/,
  },
  {
    id: 'C47 unknown role',
    body: { input: [{ role: 'tool', content: 'x' }] },
    param: 'input[0].role',
    message: /role/,
  },
];

for (const { id, body, param, message } of REFUSALS)
  test(`${id}: 400 that names it`, () => {
    for (const captured of [true, false]) {
      const refusal = refuse({ model: 'm', ...body }, { ...CAPTURED, captured });
      assert.equal(refusal.param, param);
      assert.match(refusal.message, message);
    }
  });

test('C36 only the effort of reasoning goes up', () => {
  const effort = (reasoning: unknown) => field(convert({ model: 'm', input: 'q', reasoning }), 'reasoning_effort');
  assert.equal(effort({ effort: 'high', summary: 'auto', context: 'x' }), 'high');
  for (const nothing of [null, {}, { effort: null }, { summary: 'auto' }]) assert.equal(effort(nothing), undefined);
});

test('C35 structured output', () => {
  const schema = { type: 'object', properties: { '2': {}, '10': {} } };
  const format = { type: 'json_schema', name: 'answer', strict: false, schema };
  const request = convert({ model: 'm', input: 'q', text: { format, verbosity: 'low' } });
  assert.deepEqual(field(request, 'response_format'), {
    type: 'json_schema',
    json_schema: { name: 'answer', strict: false, schema },
  });
  assert.equal(request.fields.has('verbosity'), false);
  const plain = convert({ model: 'm', input: 'q', text: { format: { type: 'text' } } });
  assert.equal(plain.fields.has('response_format'), false);
  const object = convert({ model: 'm', input: 'q', text: { format: { type: 'json_object' } } });
  assert.deepEqual(field(object, 'response_format'), { type: 'json_object' });
});

test('C37 fields for the provider are accepted and do not go up', () => {
  const extras = {
    client_metadata: { a: 1 },
    prompt_cache_key: 'k',
    include: ['reasoning.encrypted_content'],
    store: false,
    safety_identifier: 's',
    metadata: { m: '1' },
    user: 'u',
    service_tier: 'auto',
  };
  const request = convert({ model: 'm', input: 'q', ...extras });
  assert.deepEqual([...request.fields.keys()], []);
  assert.deepEqual(request.ignored, []);
});
