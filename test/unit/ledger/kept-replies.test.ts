import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeptReplies } from '../../../src/ledger/kept-replies.ts';

describe('the account of kept replies', () => {
  const account = (keepBytes = 100, keepS = 900) => {
    const clock = { nowS: 1000 };
    return { clock, kept: new KeptReplies<string>({ keepBytes, keepS }, () => clock.nowS) };
  };
  const ids = (kept: readonly { callId: string }[]) => kept.map(({ callId }) => callId);

  it('lets the oldest go when there is no room', () => {
    const { kept } = account();
    assert.deepEqual(kept.add('a', 'c1', 40), []);
    assert.deepEqual(kept.add('a', 'c2', 40), []);
    assert.deepEqual(ids(kept.add('b', 'c3', 50)), ['c1']);
    assert.equal(kept.bytes, 90);
    assert.deepEqual(ids(kept.add('b', 'c4', 100)), ['c2', 'c3']);
    assert.equal(kept.bytes, 100);
  });

  it('takes only what fits at all', () => {
    assert.equal(account().kept.fits(100), true);
    assert.equal(account().kept.fits(101), false);
    assert.equal(account(100, 0).kept.fits(1), false);
  });

  it('forgets what was handed over', () => {
    const { kept } = account();
    kept.add('a', 'c1', 40);
    kept.forget('a', 'c1');
    kept.forget('a', 'c1');
    kept.forget('b', 'c1');
    assert.equal(kept.bytes, 0);
  });

  it('gives out what has had its time', () => {
    const { kept, clock } = account();
    kept.add('a', 'c1', 10);
    clock.nowS += 500;
    kept.add('a', 'c2', 10);
    assert.deepEqual(ids(kept.takeExpired()), []);
    clock.nowS += 400;
    assert.deepEqual(ids(kept.takeExpired()), ['c1']);
    assert.equal(kept.bytes, 10);
    clock.nowS += 500;
    assert.deepEqual(ids(kept.add('a', 'c3', 10)), ['c2']);
  });
});
