import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { customArguments, customGrammar, customInput, customToolFunction } from '../../../src/protocol/custom-tool.ts';
import { json } from '../../support/chat-conversion.ts';

const PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

test('a custom tool is a function with one string parameter', () => {
  assert.deepEqual(JSON.parse(customToolFunction({ name: 'exec', description: null, grammar: null })), {
    type: 'function',
    function: { name: 'exec', parameters: PARAMETERS },
  });
});

test('its grammar is told in the description', () => {
  const grammar = customGrammar(json('{"type":"grammar","syntax":"lark","definition":"start: X"}'));
  const nested = customGrammar(json('{"type":"grammar","grammar":{"syntax":"lark","definition":"start: X"}}'));
  assert.deepEqual(grammar, { syntax: 'lark', definition: 'start: X' });
  assert.deepEqual(nested, grammar);
  const tool = JSON.parse(customToolFunction({ name: 'p', description: 'd', grammar }));
  assert.equal(tool.function.description, 'd\n\nThe input must follow this grammar (lark):\nstart: X');
});

test('free text has no grammar', () => {
  assert.equal(customGrammar(undefined), null);
  assert.equal(customGrammar(json('{"type":"text"}')), null);
});

const INPUTS: readonly (readonly [args: string, input: string])[] = [
  ['{ "input": "*** Begin\\n" }', '*** Begin\n'],
  ['{"input":"a","input":"b"}', 'b'],
  ['{"input":"\\ud83d"}', '\ud83d'],
  ['{"input":5}', '{"input":5}'],
  ['{"text":"x"}', '{"text":"x"}'],
  ['*** Begin', '*** Begin'],
  ['["input"]', '["input"]'],
  ['null', 'null'],
  ['', ''],
];
for (const [args, input] of INPUTS)
  test(`arguments ${args} are the input ${JSON.stringify(input)}`, () => {
    assert.equal(customInput(args), input);
  });

test('an echoed input gives arguments that give the input again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (input) => {
      assert.equal(customInput(customArguments(input)), input);
    }),
  );
});
