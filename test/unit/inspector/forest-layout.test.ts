import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeCalls } from '../../../src/inspector/page/forest-layout.js';
import type { CallRow } from '../../../src/inspector/pages.ts';

/** Calls named by their number in commit order, by the number of their parent (0: a root). */
function calls(parents: readonly number[]): CallRow[] {
  return parents.map((parent, at) => ({
    model_call_id: String(at + 1),
    parent_call_id: parent === 0 ? null : String(parent),
    prev_len: 0,
    delta_len: 1,
    cum_len: 1,
    weight_version: 0,
    response_status: 'completed',
    finish_reason: 'stop',
    admitted_at: 0,
  }));
}

/** Rows from top to bottom: `number@column<parentColumn`, then the passing lines, then `v` where a line goes down. */
function drawn(parents: readonly number[]): string[] {
  return placeCalls(calls(parents)).map(
    ({ number, column, parentColumn, passing, hasChildren }) =>
      `${number}@${column}${parentColumn === null ? '' : `<${parentColumn}`}${passing.map((at) => `|${at}`).join('')}${hasChildren ? 'v' : ''}`,
  );
}

test('a chain goes straight down', () => {
  assert.deepEqual(drawn([0, 1, 2]), ['1@0v', '2@0<0v', '3@0<0']);
});

test('each root stands above what continues it', () => {
  assert.deepEqual(drawn([0, 0, 1, 2]), ['1@0v', '3@0<0', '2@0v', '4@0<0']);
});

test('of siblings the heaviest stays in the column and comes last; the others branch off, past its line', () => {
  // 2 and 3 continue 1; 2 goes on with 4.
  assert.deepEqual(drawn([0, 1, 1, 2]), ['1@0v', '3@1<0|0', '2@0<0v', '4@0<0']);
});

test('of equal siblings the latest stays in the column, the others keep their order', () => {
  assert.deepEqual(drawn([0, 1, 1, 1]), ['1@0v', '2@1<0|0', '3@1<0|0', '4@0<0']);
});

test('a branch that forks itself goes one column further, past both lines', () => {
  // 2 has 4, 5; 3 has the longer chain 6, 7, 8.
  assert.deepEqual(drawn([0, 1, 1, 2, 2, 3, 6, 7]), [
    '1@0v',
    '2@1<0|0v',
    '4@2<1|0|1',
    '5@1<1|0',
    '3@0<0v',
    '6@0<0v',
    '7@0<0v',
    '8@0<0',
  ]);
});

test('ten thousand calls, a rejected sample after each, stay within two columns, without recursion', () => {
  const parents = [0];
  for (let at = 1; at < 10_000; at += 2) parents.push(at, at);
  const placed = placeCalls(calls(parents));
  assert.equal(placed.length, parents.length);
  assert.equal(Math.max(...placed.map(({ column }) => column)), 1);
  assert.equal(placeCalls(calls(Array.from({ length: 10_000 }, (_, at) => at))).length, 10_000);
});

test('a call whose parent is not among them is drawn as a root', () => {
  assert.deepEqual(drawn([9, 1]), ['1@0v', '2@0<0']);
  assert.deepEqual(placeCalls([]), []);
});
