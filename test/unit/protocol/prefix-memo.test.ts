import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Memorable } from '../../../src/protocol/json/memo.ts';
import { PrefixMemo } from '../../../src/protocol/json/prefix-memo.ts';

interface Item extends Memorable {
  readonly text: string;
}

const item = (text: string): Item => ({ text });

/** Joins texts; `steps` tells which elements were looked at since the last time it was asked. */
function joining() {
  const seen: string[] = [];
  const memo = new PrefixMemo<Item, string[]>({
    start: () => [],
    step(state, { text }) {
      seen.push(text);
      state.push(text);
      return state;
    },
    fork: (state) => [...state],
  });
  const of = (list: readonly Item[]) => memo.ofAll(list).join('');
  return { memo, of, steps: () => seen.splice(0).join('') };
}

test('a list that goes on with an earlier one takes the steps for what is new alone', () => {
  const { of, steps } = joining();
  const [a, b, c] = [item('a'), item('b'), item('c')];
  assert.equal(of([a, b]), 'ab');
  assert.equal(steps(), 'ab');
  assert.equal(of([a, b, c]), 'abc');
  assert.equal(steps(), 'c');
  assert.equal(of([a, b, c]), 'abc');
  assert.equal(steps(), '');
});

test('one beginning is kept at a time: it moves on with the list', () => {
  const { of, steps } = joining();
  const [a, b] = [item('a'), item('b')];
  of([a]);
  of([a, b]);
  steps();
  assert.equal(of([a]), 'a');
  assert.equal(steps(), 'a');
  assert.equal(a.memo?.next, undefined);
});

test('another list with the same last element, an equal one, a copy: all are worked out anew', () => {
  const { of, steps } = joining();
  const [a, b, x] = [item('a'), item('b'), item('x')];
  of([a, b]);
  steps();
  for (const list of [[x, b], [b], [item('a'), b], [a, { ...b }], [a, item('b')], [x, a, b]]) {
    const text = list.map((element) => element.text).join('');
    assert.equal(of(list), text);
    assert.equal(steps(), text);
  }
});

test('what the steps depend on is told apart: each has a memo of its own', () => {
  const list = [item('a')];
  const [one, other] = [joining(), joining()];
  one.of(list);
  one.steps();
  assert.equal(one.of(list), 'a');
  assert.equal(one.steps(), '');
  assert.equal(other.of(list), 'a');
  assert.equal(other.steps(), 'a');
  assert.equal(one.of(list), 'a');
  assert.equal(one.steps(), '');
});

test('a state that is taken further is one of its own, and is not kept', () => {
  const { memo, of, steps } = joining();
  const [a, b, c] = [item('a'), item('b'), item('c')];
  const first = memo.of([a, b, c], 1);
  assert.deepEqual(memo.after(first, [a, b, c], 1), ['a', 'b', 'c']);
  assert.deepEqual(first, ['a']);
  steps();
  assert.equal(of([a, b]), 'ab');
  assert.equal(steps(), 'b');
});

test('nothing of a list is the start, and is kept nowhere', () => {
  const { memo, steps } = joining();
  const a = item('a');
  assert.deepEqual(memo.of([a], 0), []);
  assert.deepEqual(memo.ofAll([]), []);
  assert.equal(steps(), '');
  assert.equal(a.memo, undefined);
});
