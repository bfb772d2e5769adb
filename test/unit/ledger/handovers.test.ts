import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Handovers } from '../../../src/ledger/sqlite/handovers.ts';

const ATTEMPT = 1;
const claimable = (handovers: Handovers, waiter = 'somebody') => handovers.claimable(ATTEMPT, 'body', waiter);

function withTwoCalls(): Handovers {
  const handovers = new Handovers();
  handovers.add(ATTEMPT, 'body', 'c1', 'c1');
  handovers.add(ATTEMPT, 'body', 'c2', 'c2');
  handovers.keep();
  return handovers;
}

describe('hand-overs', () => {
  it('can be claimed when nobody waits, oldest first', () => {
    const handovers = withTwoCalls();
    assert.deepEqual(claimable(handovers), []);
    handovers.leave(ATTEMPT, 'body', 'c2', 'c2');
    handovers.leave(ATTEMPT, 'body', 'c1', null);
    assert.deepEqual(claimable(handovers), ['c1', 'c2']);
    handovers.join(ATTEMPT, 'body', 'c1', 'j');
    assert.deepEqual(claimable(handovers), ['c2']);
    assert.deepEqual(claimable(handovers, 'j'), ['c1', 'c2']);
    handovers.end(ATTEMPT, 'body', 'c2');
    assert.deepEqual(claimable(handovers), []);
    assert.deepEqual(handovers.claimable(2, 'body', 'j'), []);
    assert.deepEqual(handovers.claimable(ATTEMPT, 'other', 'j'), []);
  });

  for (const [what, change] of [
    ['add', (handovers: Handovers) => handovers.add(ATTEMPT, 'body', 'c3', null)],
    ['join', (handovers: Handovers) => handovers.join(ATTEMPT, 'body', 'c1', 'j')],
    ['leave', (handovers: Handovers) => handovers.leave(ATTEMPT, 'body', 'c1', null)],
    ['end', (handovers: Handovers) => handovers.end(ATTEMPT, 'body', 'c1')],
  ] as const) {
    it(`${what} is undone by a rollback, and kept otherwise`, () => {
      const states = (handovers: Handovers) => ['c1', 'j', 'x'].map((waiter) => claimable(handovers, waiter));
      const handovers = withTwoCalls();
      const before = states(handovers);
      change(handovers);
      const changed = states(handovers);
      assert.notDeepEqual(changed, before);
      handovers.rollBack();
      assert.deepEqual(states(handovers), before);
      change(handovers);
      handovers.keep();
      handovers.rollBack();
      assert.deepEqual(states(handovers), changed);
    });
  }

  it('undoes a whole transaction, the last change first', () => {
    const handovers = withTwoCalls();
    handovers.end(ATTEMPT, 'body', 'c1');
    handovers.end(ATTEMPT, 'body', 'c2');
    handovers.add(ATTEMPT, 'body', 'c3', null);
    handovers.rollBack();
    assert.deepEqual(claimable(handovers, 'c1'), ['c1']);
    assert.deepEqual(claimable(handovers, 'c2'), ['c2']);
  });
});
