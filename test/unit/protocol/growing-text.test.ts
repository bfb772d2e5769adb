import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrowingText } from '../../../src/protocol/json/growing-text.ts';

const textOf = ({ head, tail }: GrowingText) => head.toString('latin1') + tail;

test('it is everything that was appended, in order', () => {
  for (const size of [1, 100, 1023, 1024, 1025, 5000]) {
    const text = new GrowingText('start ');
    let all = 'start ';
    for (let at = 0; at < 40; at++) {
      const piece = String.fromCharCode(0x20 + at, 0xc0 + at).repeat(size);
      text.append(piece);
      all += piece;
      assert.equal(textOf(text), all);
    }
  }
});

test('little of it is a string', () => {
  const text = new GrowingText();
  for (let at = 0; at < 1000; at++) {
    text.append('0123456789');
    assert.ok(text.tail.length <= 1024);
  }
});

test('it is empty until something was appended', () => {
  const text = new GrowingText();
  assert.equal(text.isEmpty, true);
  text.append('x'.repeat(2000));
  assert.equal(text.isEmpty, false);
  assert.equal(new GrowingText('x').isEmpty, false);
});

test('a fork and what it was made from go their own ways', () => {
  for (const size of [1, 2000]) {
    const trunk = new GrowingText();
    trunk.append('x'.repeat(size));
    const fork = trunk.fork();
    fork.append('fork'.repeat(size));
    trunk.append('trunk'.repeat(size));
    assert.equal(textOf(fork), 'x'.repeat(size) + 'fork'.repeat(size));
    assert.equal(textOf(trunk), 'x'.repeat(size) + 'trunk'.repeat(size));
  }
});
