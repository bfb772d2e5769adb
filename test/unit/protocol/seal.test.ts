import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sealReasoning, unsealReasoning } from '../../../src/protocol/seal.ts';

test('any string comes back', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a', '\0', '"') })),
      (text) => {
        assert.equal(unsealReasoning(sealReasoning(text)), text);
      },
    ),
  );
});

test('a megabyte comes back, and the empty text', () => {
  const long = 'é😀\n'.repeat(250_000);
  assert.equal(unsealReasoning(sealReasoning(long)), long);
  assert.equal(unsealReasoning(sealReasoning('')), '');
});

test('the same text gives the same value, one token of URL-safe characters', () => {
  assert.equal(sealReasoning('think\n'), sealReasoning('think\n'));
  assert.match(sealReasoning('think\n'), /^[A-Za-z0-9_-]+$/);
});

test('a value stays readable: this one was made by the first version', () => {
  assert.equal(unsealReasoning('gmpr1_pql3J3cee_AVZpLJ5wqcGeImZpcnN0XG5cdWQ4M2Qi'), 'first\n\ud83d');
});

test('any change of any character is noticed', () => {
  const sealed = sealReasoning('some reasoning');
  for (let at = 0; at < sealed.length; at++) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    assert.equal(unsealReasoning(`${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`), null, `at ${at}`);
    assert.equal(unsealReasoning(sealed.slice(0, at)), null, `cut at ${at}`);
  }
  assert.equal(unsealReasoning(`${sealed}A`), null);
  assert.equal(unsealReasoning(`${sealed}=`), null);
  assert.equal(unsealReasoning(`${sealed}\n`), null);
});

test('foreign values are none', () => {
  for (const value of [
    '',
    'gmpr1_',
    'gAAAAABo',
    'EqQBCgIYAhIkMTIz',
    'rs_123',
    'a b',
    '{"a":1}',
    'gmpr1_'.padEnd(60, 'A'),
  ])
    assert.equal(unsealReasoning(value), null, value);
});
