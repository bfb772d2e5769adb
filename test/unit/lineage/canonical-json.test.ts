import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  canonicalArguments,
  canonicalFingerprint,
  canonicalReplay,
  canonicalReplayWithoutNulls,
  compareCodePoints,
  pythonFloat,
} from '../../../src/lineage/canonical-json.ts';
import { equalityForm, memberForms } from '../../../src/lineage/equality-form.ts';
import { json } from './support.ts';

test('null members below the top level can be left out, null elements never', () => {
  const node = json('{"a":null,"b":{"c":null,"d":[null,{"e":null,"f":1}]}}');
  assert.equal(canonicalReplay(node), '{"a":null,"b":{"c":null,"d":[null,{"e":null,"f":1}]}}');
  assert.equal(canonicalReplay(node, { dropNullMembersBelowTop: true }), '{"a":null,"b":{"d":[null,{"f":1}]}}');
  assert.equal(canonicalReplayWithoutNulls(node), '{"b":{"d":[null,{"f":1}]}}');
  assert.equal(canonicalReplay(json('[{"a":null}]'), { dropNullMembersBelowTop: true }), '[{}]');
});

test('of duplicate members the last one counts, a null one too', () => {
  assert.equal(canonicalReplay(json('{"a":1,"b":2,"a":{"c":3,"c":4}}')), '{"a":{"c":4},"b":2}');
  assert.equal(canonicalReplayWithoutNulls(json('{"a":1,"a":null}')), '{}');
  assert.equal(canonicalFingerprint(json('{"a":"\\ud800","a":1}')), '{"a":1}');
});

test('keys sort by code point, not by UTF-16 code unit', () => {
  const sorted = ['', 'Z', 'z', 'zz', '\u00e9', '\ue000', '\uffff', '\u{10000}', '\u{1f600}'];
  assert.deepEqual(sorted.toReversed().sort(compareCodePoints), sorted);
  assert.equal(compareCodePoints('same', 'same'), 0);
});

test('escapes come out in their canonical spelling', () => {
  const text = '"\\u0041\\/\\u00e9\\ud83d\\ude00\\u2028\\u001F\\n\\\\u0041"';
  assert.equal(canonicalReplay(json(text)), '"A/é😀\u2028\\u001f\\n\\\\u0041"');
  assert.equal(canonicalReplay(json('{"\\u0061\\n":"\\t"}')), '{"a\\n":"\\t"}');
  assert.equal(canonicalReplay(json('{"\\ud800":1}')), null);
  assert.equal(canonicalFingerprint(json('["ok","\\udc00"]')), null);
});

test('orjson stops at 254 levels, Python does not', () => {
  const nested = (levels: number) => json('['.repeat(levels) + ']'.repeat(levels));
  assert.equal(canonicalFingerprint(nested(254))?.length, 508);
  assert.equal(canonicalFingerprint(nested(255)), null);
  assert.equal(canonicalReplay(nested(300))?.length, 600);
  const objects = (levels: number) => json(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`);
  assert.equal(canonicalFingerprint(objects(254))?.length, 253 * 6 + 2);
  assert.equal(canonicalFingerprint(objects(255)), null);
});

test('floats as Python prints them', () => {
  const cases: [number, string][] = [
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [-1.5, '-1.5'],
    [1732924800, '1732924800.0'],
    [1732924800.123456, '1732924800.123456'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1.5e-7, '1.5e-07'],
    [123456789012345.6, '123456789012345.6'],
    [9999999999999998, '9999999999999998.0'],
    [1e16, '1e+16'],
    [1.25e100, '1.25e+100'],
    [-1e-100, '-1e-100'],
    [Number.NaN, 'nan'],
    [Number.NEGATIVE_INFINITY, '-inf'],
  ];
  for (const [value, text] of cases) assert.equal(pythonFloat(value), text);
});

test('arguments that are equal by JSON value', () => {
  const equal: [string, string, string][] = [
    ['C138', '{"description":"d","timeout":1.0e4,"command":"c"}', '{"command":"c","description":"d","timeout":10000}'],
    ['C141', '{"id":2512292042121000001}', '{"id":2512292042121000000}'],
    ['C142', '{"a":1.0}', '{"a":1}'],
    ['C142', '{"a":1e0}', '{ "a" : 1 }'],
    ['C143', '{"a":-0}', '{"a":0}'],
    ['C143', '{"a":-0.0}', '{"a":0}'],
    ['C145', '{"10":1,"2":2}', '{"2":2,"10":1}'],
    ['escapes', '{"t":"\\u00e9\\/\\u0041"}', '{"t":"é/A"}'],
    ['duplicates', '{"a":1,"b":3,"a":2}', '{"a":2,"b":3}'],
    ['nested', '[{"b":[1,{"d":1,"c":2}],"a":null}]', '[{"a":null,"b":[1.0,{"c":2,"d":1}]}]'],
    ['empty', '', '{}'],
    ['lone surrogate, escaped or not', '{"a":"\\ud83d"}', '{"a":"\ud83d"}'],
    ['__proto__', '{"__proto__":1,"a":2}', '{"a":2,"__proto__":1}'],
    ['beyond the doubles', '{"b":1,"a":1e400}', '{"a":1e400,"b":1.0}'],
  ];
  for (const [why, a, b] of equal) assert.equal(canonicalArguments(a), canonicalArguments(b), why);
});

test('arguments are compared by value down to 512 levels, deeper ones as text', () => {
  const nested = (levels: number, space: string) => `${'['.repeat(levels)}${space}${']'.repeat(levels)}`;
  assert.equal(canonicalArguments(nested(512, ' ')), canonicalArguments(nested(512, '')));
  assert.notEqual(canonicalArguments(nested(513, ' ')), canonicalArguments(nested(513, '')));
});

test('a number beyond the doubles beside a value that is too deep: the exact text', () => {
  for (const levels of [511, 512, 4000, 100_000]) {
    const text = `{"a":1e999,"b":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const byValue = levels < 512;
    assert.equal(
      canonicalArguments(text),
      byValue ? text.replace('1e999', '!1e999') : `!${JSON.stringify(text)}`,
      `${levels}`,
    );
    assert.equal(memberForms(text)?.get('a'), byValue ? '!1e999' : undefined);
    const withoutB = equalityForm(text, (key) => key !== 'b');
    assert.equal(withoutB, byValue ? '{"a":!1e999}' : `!${JSON.stringify(text)}`);
  }
});

test('arguments that differ', () => {
  const long = 'x'.repeat(100);
  const all = [
    '{}',
    '[]',
    'null',
    'true',
    '0',
    '""',
    '"0"',
    ' ',
    '{"a":1e400}',
    '{"a":-1e400}',
    '{"a":1e401}',
    '{"a":null}',
    '{"a":"1e400"}',
    '{"a":"!1e400"}',
    '{"a":NaN}',
    '{"a":"NaN"}',
    '{"a":1}',
    '{"a":"1"}',
    '{"a":[1]}',
    '{"a":{"1":1}}',
    '{"a":true}',
    '{"A":1}',
    '{"a":1,"b":null}',
    '{"a":[1,2]}',
    '{"a":[2,1]}',
    '{"a":"\\ud83d"}',
    '{"a":"\\ufffd"}',
    '{"a":"\u00e9"}',
    '{"a":"e\u0301"}',
    '{bad json',
    '{bad  json',
    '"{bad json"',
    'text',
    '"text"',
    '!"text"',
    '"!\\"text\\""',
    '\ud83d',
    '\ufffd',
    '{"a":0.1}',
    '{"a":0.10000000000000002}',
    '{"a":1}x',
    JSON.stringify({ a: long }),
    JSON.stringify({ a: `${long}y` }),
    JSON.stringify({ a: `#100:${long}` }),
    JSON.stringify([long, long]),
    JSON.stringify([`${long}","${long}`]),
    `[${'['.repeat(600)}${']'.repeat(600)}]`,
    `[${'['.repeat(601)}${']'.repeat(601)}]`,
  ];
  assert.equal(new Set(all).size, all.length);
  const forms = all.map(canonicalArguments);
  for (const form of forms) assert.ok(form.isWellFormed());
  assert.equal(new Set(forms).size, all.length);
});
