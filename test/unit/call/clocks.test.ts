import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilDone } from '../../../src/call/commit-record.ts';
import { buildRunningCalls } from '../../../src/call/running-calls.ts';
import { LedgerUnavailable } from '../../../src/ledger/ledger.ts';

/** Bounds of waiting hold when somebody sets the clock. */

test('a drain ends in its time when the clock is set back', async (t) => {
  const running = buildRunningCalls({ inFlight: { set: () => undefined } as never });
  running.add(new Promise(() => undefined));
  let nowMs = Date.now();
  t.mock.method(Date, 'now', () => {
    nowMs -= 60_000;
    return nowMs;
  });
  assert.equal(await running.idle(20), false);
});

test('a commit is tried for its time when the clock is set forward', async (t) => {
  let nowMs = Date.now();
  t.mock.method(Date, 'now', () => {
    nowMs += 3_600_000;
    return nowMs;
  });
  let tries = 0;
  const done = await untilDone(async () => {
    tries += 1;
    if (tries < 3) throw new LedgerUnavailable('away');
    return 'done';
  }, 10_000);
  assert.deepEqual([done, tries], ['done', 3]);
});
