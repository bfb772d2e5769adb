import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { Deliveries } from '../../../src/ledger/redis/deliveries.ts';

type Written = [attempt: string, callIds: string[]];

function deliveries(write: () => Promise<void> = async () => {}) {
  const written: Written[] = [];
  const under = new Deliveries((attempt, callIds) => {
    written.push([attempt, [...callIds]]);
    return write();
  });
  return { under, written };
}

/** Runs what waits for its time. */
function withTimers(t: { after: (end: () => void) => void }): (ms: number) => void {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  return (ms) => mock.timers.tick(ms);
}

it('goes with the next admission to the attempt, and is written once that is through', async () => {
  const { under, written } = deliveries();
  const told = [under.add('a', 'one'), under.add('a', 'two')];
  let taken: readonly string[] = [];
  assert.equal(
    await under.takeAlong('a', async (callIds) => {
      taken = callIds;
      return 'admitted';
    }),
    'admitted',
  );
  await Promise.all(told);
  assert.deepEqual(taken, ['one', 'two']);
  assert.deepEqual(written, []);
  await under.takeAlong('a', async (callIds) => assert.deepEqual(callIds, []));
});

it('goes by itself where there is no admission within a moment, and not with one to another attempt', async (t) => {
  const tick = withTimers(t);
  const { under, written } = deliveries();
  const told = under.add('a', 'one');
  await under.takeAlong('b', async (callIds) => assert.deepEqual(callIds, []));
  tick(49);
  assert.deepEqual(written, []);
  tick(1);
  await told;
  assert.deepEqual(written, [['a', ['one']]]);
  await under.takeAlong('a', async (callIds) => assert.deepEqual(callIds, []));
});

it('goes by itself where the admission fails', async () => {
  const { under, written } = deliveries();
  const told = under.add('a', 'one');
  const failing = under.takeAlong('a', async () => {
    throw new Error('no answer');
  });
  await assert.rejects(failing, /no answer/);
  await told;
  assert.deepEqual(written, [['a', ['one']]]);
});

it('says where it could not be written', async (t) => {
  const tick = withTimers(t);
  const { under } = deliveries(async () => {
    throw new Error('gone');
  });
  const told = under.add('a', 'one');
  tick(50);
  await assert.rejects(told, /gone/);
});

it('waits for the next one where it comes while an admission is on its way', async (t) => {
  const tick = withTimers(t);
  const { under, written } = deliveries();
  let later: Promise<void> = Promise.resolve();
  await under.takeAlong('a', async () => {
    later = under.add('a', 'one');
  });
  assert.deepEqual(written, []);
  tick(50);
  await later;
  assert.deepEqual(written, [['a', ['one']]]);
});
