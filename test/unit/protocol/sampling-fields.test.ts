import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unknownNames } from '../../../src/protocol/field-table.ts';
import type { JsonFragment } from '../../../src/protocol/json/fragment.ts';
import { fragmentText } from '../../../src/protocol/json/fragment.ts';
import { type FieldType, forwardFields, forwardPromptFields } from '../../../src/protocol/sampling-fields.ts';
import { json } from '../../support/chat-conversion.ts';

const TYPED: readonly (readonly [
  type: FieldType,
  good: readonly string[],
  bad: readonly string[],
  expected: string,
])[] = [
  ['number', ['1', '-0.50', '1e308'], ['"1"', 'true', '[]', '1e400', '-1e400'], 'a finite number'],
  ['integer', ['1', '1.0', '-3', '1e2'], ['1.5', '"1"', '1e400'], 'an integer'],
  ['boolean', ['true', 'false'], ['1', '"true"'], 'a boolean'],
  ['string', ['""', '"a"'], ['1', '["a"]'], 'a string'],
  ['array', ['[]', '[1]'], ['{}', '"a"'], 'an array'],
  ['object', ['{}', '{"a":1}'], ['[]', '"a"'], 'an object'],
  ['string or strings', ['"a"', '[]', '["a","b"]'], ['1', '[1]', '{}'], 'a string or an array of strings'],
  ['string or object', ['"a"', '{}'], ['1', '[]'], 'a string or object'],
  ['any', ['1', '"a"', '[]', '{}', 'false'], [], ''],
];

for (const [type, good, bad, expected] of TYPED) {
  for (const value of good)
    test(`${value} is of type ${type} and goes up as it is spelled`, () => {
      const into = new Map<string, JsonFragment>();
      assert.equal(forwardFields(json(`{"x":${value},"y":1}`), { x: type }, into), null);
      assert.deepEqual(
        [...into].map(([name, fragment]) => [name, fragmentText(fragment)]),
        [['x', value]],
      );
    });
  for (const value of bad)
    test(`${value} is not of type ${type}`, () => {
      const refusal = forwardFields(json(`{"x":${value}}`), { x: type }, new Map());
      assert.equal(refusal?.param, 'x');
      assert.ok(refusal.message.startsWith(`x: expected ${expected}, got `), refusal.message);
    });
}

test('null is left out; the last duplicate counts; the order is that of the body', () => {
  const into = new Map<string, JsonFragment>();
  forwardFields(json('{"b":1,"a":null,"c":3,"b":2}'), { a: 'number', b: 'number', c: 'number' }, into);
  assert.deepEqual(
    [...into].map(([name, fragment]) => [name, fragmentText(fragment)]),
    [
      ['b', '2'],
      ['c', '3'],
    ],
  );
});

test('a name of Object.prototype is no field', () => {
  const into = new Map<string, JsonFragment>();
  assert.equal(forwardFields(json('{"constructor":1,"__proto__":2,"toString":3}'), { x: 'number' }, into), null);
  assert.equal(into.size, 0);
  assert.deepEqual(unknownNames(['constructor', '__proto__'], {}), ['constructor', '__proto__']);
});

test('what shapes the prompt goes up only where it is no default', () => {
  const forwarded = (body: string) => {
    const into = new Map<string, JsonFragment>();
    assert.equal(forwardPromptFields(json(body), into), null);
    return [...into.keys()];
  };
  assert.deepEqual(forwarded('{"add_generation_prompt":true,"continue_final_message":false,"echo":false}'), []);
  assert.deepEqual(forwarded('{"add_generation_prompt":false,"continue_final_message":true,"echo":true}'), [
    'add_generation_prompt',
    'continue_final_message',
    'echo',
  ]);
  assert.deepEqual(forwarded('{"truncate_prompt_tokens":5,"chat_template":"t"}'), [
    'truncate_prompt_tokens',
    'chat_template',
  ]);
  assert.deepEqual(forwarded('{"truncate_prompt_tokens":null,"chat_template":null}'), []);
  assert.equal(forwardPromptFields(json('{"echo":1}'), new Map())?.param, 'echo');
});

test('unknown names are told apart, few and short', () => {
  const table = { known: { kind: 'ignored', note: '' } } as const;
  assert.deepEqual(unknownNames(['a', 'known', 'a', 'b'], table), ['a', 'b']);
  assert.deepEqual(unknownNames(['x'.repeat(100)], table), ['x'.repeat(64)]);
  assert.equal(
    unknownNames(
      Array.from({ length: 50 }, (_, at) => `n${at}`),
      table,
    ).length,
    20,
  );
});
