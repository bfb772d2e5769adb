import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo, type Memorable, memoOf } from '../../../src/protocol/json/memo.ts';
import { readMemo } from '../../../src/protocol/read-memo.ts';
import { invalid } from '../../../src/protocol/refusals.ts';
import { json } from '../../support/responses-dialect.ts';

test('a result is made once for the same object with the same others; the latest is kept', () => {
  const memo = new Memo<number>();
  const object: Memorable = {};
  const [a, b] = [{}, {}];
  let made = 0;
  const of = (...withs: object[]) => memo.of(object, withs, () => ++made);
  assert.deepEqual([of(a), of(a), of(a, b), of(a, b), of(b, a), of(a), of(), of()], [1, 1, 2, 2, 3, 4, 5, 5]);
});

test('several results of one object do not get in the way of each other', () => {
  const node = json('[1]');
  let made = 0;
  const length = memoOf((list) => list.children.length + made++);
  const text = memoOf((list) => `${list.rawText()}${made++}`);
  assert.deepEqual([length(node), text(node), length(node), text(node)], [1, '[1]1', 1, '[1]1']);
  assert.equal(length(json('[1]')), 3);
});

test('a refusal is not kept: it says where the node stands', () => {
  const memo = readMemo<object>();
  const node = json('1');
  const at = (path: string) => memo.of(node, [], () => invalid(path, 'is wrong'));
  assert.deepEqual(
    [at('input[0]'), at('input[1]')],
    [invalid('input[0]', 'is wrong'), invalid('input[1]', 'is wrong')],
  );
});

test('a copy of an object does not take its results along', () => {
  const memo = new Memo<string>();
  const text = (object: Memorable & { readonly text: string }) => memo.of(object, [], () => object.text);
  const first = { text: 'a' };
  assert.equal(text(first), 'a');
  const copy = { ...first, text: 'b' };
  assert.deepEqual([text(copy), text(copy), text(first)], ['b', 'b', 'a']);
});
