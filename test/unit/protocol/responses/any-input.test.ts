import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evidenceOf } from '../../../../src/lineage/evidence.ts';
import { isRefusal } from '../../../../src/protocol/conversation.ts';
import { fragmentText } from '../../../../src/protocol/json/fragment.ts';
import { ITEM_TYPES } from '../../../../src/protocol/responses/convert-item.ts';
import { responses } from '../../../../src/protocol/responses/index.ts';
import { CAPTURED, engineAnswer, json, REPLY, UNCAPTURED, upstream } from '../../../support/responses-dialect.ts';

/** Objects whose keys and values look like those of requests, put together at random: converted or refused, never a crash. */
const KEYS =
  'type role content text id call_id name arguments namespace output input summary encrypted_content action operation tools execution image_url file_id detail refusal parameters description strict format mode status url function allowed_tools thinking';
const WORDS = [
  ...ITEM_TYPES.converted,
  ...ITEM_TYPES.leftOut,
  ...'user assistant system developer input_text output_text input_image refusal function custom namespace tool_search web_search client allowed_tools auto required functions __proto__ constructor grammar'.split(
    ' ',
  ),
];

const anyKey = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...KEYS.split(' ')) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'toString', '') },
);
const anyLeaf = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.constantFrom('', null, true, 0, -1.5, 1e21) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
);
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    anyLeaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 6 }),
  ),
}));
/** An item of a known type; what its type asks for is mostly there, the rest is at random. */
const anyItem = fc
  .tuple(
    fc.constantFrom<string>(...ITEM_TYPES.converted, ...ITEM_TYPES.leftOut),
    fc.record({
      role: fc.constantFrom('user', 'assistant', 'developer'),
      name: fc.constantFrom('f', 'a'),
      content: fc.oneof(fc.string(), fc.array(fc.record({ type: fc.constant('input_text'), text: fc.string() }))),
    }),
    fc.dictionary(anyKey, anyValue, { maxKeys: 2 }),
  )
  .map(([type, usual, members]) => ({ ...usual, ...members, type }));
const question = { role: 'user', content: 'q' };
/** One thing at random at a time: most bodies with two are refused for one of them. */
const anyBody = fc.oneof(
  fc.array(anyItem, { maxLength: 3 }).map((items) => ({ input: [...items, question] })),
  fc.array(anyValue, { maxLength: 2 }).map((items) => ({ input: [...items, question] })),
  anyValue.map((input) => ({ input })),
  fc
    .tuple(
      fc.constantFrom('tools', 'tool_choice', 'text', 'reasoning', 'include', 'instructions', 'metadata', 'stream'),
      anyValue,
    )
    .map(([field, value]) => ({ input: 'q', [field]: value })),
);

test('any body is converted or refused by name, and what is converted can be sent, hashed and answered', () => {
  let converted = 0;
  fc.assert(
    fc.property(anyBody, fc.boolean(), (body, captured) => {
      const request = responses.convert(json({ model: 'm', ...body }), captured ? CAPTURED : UNCAPTURED);
      if (isRefusal(request)) {
        assert.ok(request.message.length > 10);
        assert.ok(request.param === null || request.message.startsWith(`${request.param}: `), request.message);
        return;
      }
      converted++;
      assert.deepEqual(
        upstream(request.messages),
        upstream(request.messages.map((message) => ({ ...message, verbatim: undefined }))),
        "the client's own bytes say the same",
      );
      for (const message of request.messages) evidenceOf(message, 'required');
      for (const fragment of request.fields.values()) JSON.parse(fragmentText(fragment));
      const answer = engineAnswer({ reasoning: 'r', toolCalls: [{ id: 'c', name: 'user', arguments: '{}' }] });
      const reply = responses.render(request, answer, REPLY);
      JSON.parse(reply.json.toString());
      responses.stream(request, answer, reply, REPLY);
    }),
    { numRuns: 3000 },
  );
  assert.ok(converted > 300, `only ${converted} bodies were converted`);
});

test('tools at random are converted or refused by name', () => {
  const anyTool = fc.record(
    {
      type: fc.constantFrom('function', 'custom', 'namespace', 'tool_search', 'web_search', 'wonder'),
      name: fc.constantFrom('a', 'a__b', 'functions', '', 'n'.repeat(70)),
      execution: fc.constant('client'),
      tools: fc.array(
        fc.record({
          type: fc.constantFrom('function', 'custom'),
          name: fc.constantFrom('a', 'b', 'b__a', 'x'.repeat(65)),
        }),
      ),
    },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(fc.array(anyTool, { maxLength: 6 }), (tools) => {
      const request = responses.convert(json({ model: 'm', input: 'q', tools }), CAPTURED);
      if (isRefusal(request)) return;
      const sent = JSON.parse(fragmentText(request.fields.get('tools') ?? '[]')) as { function: { name: string } }[];
      const names = sent.map((tool) => tool.function.name);
      assert.equal(new Set(names).size, names.length, 'names are unique');
      assert.deepEqual([...request.replyContext.clientTools.keys()].sort(), [...names].sort());
      for (const [name, tool] of request.replyContext.clientTools)
        if (tool.namespace !== null) assert.ok(name.length <= 64);
    }),
  );
});

test('deep nesting is no danger', () => {
  const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
  for (const body of [
    `{"model":"m","input":[{"type":"message","role":"user","content":${deep}}]}`,
    `{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":${deep}},{"role":"user","content":"q"}]}`,
    `{"model":"m","input":"q","tools":[{"type":"function","name":"f","parameters":${deep}}]}`,
    `{"model":"m","input":[{"type":"tool_search_call","call_id":"c","arguments":${deep}},{"role":"user","content":"q"}]}`,
  ])
    responses.convert(json(body), CAPTURED);
});

test('long histories and many outputs cost what their length says', () => {
  const count = 20_000;
  const items = Array.from({ length: count }, (_, at) => [
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'r' }] },
    { type: 'function_call_output', call_id: `c${at % 2}`, output: 'x' },
    { type: 'function_call_output', call_id: 'c', output: 'x' },
  ]);
  const request = responses.convert(json({ model: 'm', input: items.flat() }), CAPTURED);
  assert.ok(!isRefusal(request));
  assert.equal(request.messages.length, count * 3);
});
