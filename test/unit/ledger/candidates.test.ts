import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Match, reasoningAgrees, settleMatches } from '../../../src/ledger/candidates.ts';

const match = (number: number, changes: Partial<Match> = {}): Match => ({
  number,
  cumLen: 10,
  cumulativeHash: `tokens ${number}`,
  outputIds: [],
  ...changes,
});
const settled = (matches: Match[], ...echoedIds: string[]) =>
  settleMatches(matches, echoedIds).map(({ number }) => number);

describe('settleMatches', () => {
  it('keeps a single match whatever is echoed', () => {
    assert.deepEqual(settled([match(1, { outputIds: ['m1'] })], 'm9'), [1]);
    assert.deepEqual(settled([]), []);
  });

  it('keeps those that are echoed in full, if there are such', () => {
    const matches = [match(1, { outputIds: ['a', 'b'] }), match(2, { outputIds: ['c'] }), match(3)];
    assert.deepEqual(settled(matches, 'a', 'b'), [1]);
    assert.deepEqual(settled(matches, 'a', 'b', 'c'), [1, 2]);
    assert.deepEqual(settled(matches, 'a'), [1, 2, 3]);
    assert.deepEqual(settled(matches), [1, 2, 3]);
  });

  it('does not take a call without ids for echoed', () => {
    assert.deepEqual(settled([match(1), match(2)], 'x'), [1, 2]);
  });

  it('keeps the last of twins: same length and same tokens', () => {
    const twin = { cumulativeHash: 'same' };
    assert.deepEqual(settled([match(1, twin), match(5, twin), match(3, twin)]), [5]);
    assert.deepEqual(settled([match(1, twin), match(2, { ...twin, cumLen: 11 })]), [1, 2]);
    assert.deepEqual(settled([match(1, { ...twin, outputIds: ['a'] }), match(2, twin)], 'a'), [1]);
  });
});

describe('reasoningAgrees', () => {
  it('compares what the request carries, turn by turn', () => {
    assert.equal(reasoningAgrees(['a', null, 'c'], ['a', 'b', 'c']), true);
    assert.equal(reasoningAgrees([null, null], ['a', 'b']), true);
    assert.equal(reasoningAgrees(['b', null], ['a', 'b']), false);
    assert.equal(reasoningAgrees(['a'], [null]), false);
    assert.equal(reasoningAgrees(['a'], []), false);
  });
});
