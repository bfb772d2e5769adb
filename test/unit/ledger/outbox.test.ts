import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { IdleTurn } from '../../../src/ledger/idle-turn.ts';
import { Outbox } from '../../../src/ledger/sqlite/outbox.ts';
import type { Job } from '../../../src/ledger/sqlite/transactions.ts';

const job = (id: number): Job => ({ id, name: 'gauges', args: [], nowS: 0 });

/** An outbox, the ids that it posted, and a promise for its next message. */
function outbox() {
  const posted: number[][] = [];
  let told: () => void = () => {};
  const box = new Outbox((jobs) => {
    posted.push(jobs.map(({ id }) => id));
    told();
  });
  const next = () =>
    new Promise<void>((resolve) => {
      told = resolve;
    });
  return { box, posted, next };
}

test('what one turn of the event loop asks for goes in one message', async () => {
  const { box, posted, next } = outbox();
  const message = next();
  box.add(job(1), false);
  box.add(job(2), false);
  assert.deepEqual(posted, []);
  await message;
  assert.deepEqual(posted, [[1, 2]]);
});

test('one message at a time: what comes meanwhile waits for the answer', async () => {
  const { box, posted, next } = outbox();
  const first = next();
  box.add(job(1), false);
  await first;
  box.add(job(2), false);
  for (let at = 0; at < 20; at++) await turn();
  assert.deepEqual(posted, [[1]]);
  const second = next();
  box.answered();
  box.add(job(3), false);
  await second;
  assert.deepEqual(posted, [[1], [2, 3]]);
});

test('what can wait goes with the next message, or by itself after a while', async () => {
  const { box, posted, next } = outbox();
  const first = next();
  box.add(job(1), true);
  box.add(job(2), false);
  await first;
  assert.deepEqual(posted, [[1, 2]]);
  box.answered();
  const second = next();
  box.add(job(3), true);
  for (let at = 0; at < 20; at++) await turn();
  assert.deepEqual(posted, [[1, 2]]);
  await second;
  assert.deepEqual(posted, [[1, 2], [3]]);
});

test('a closed one gives back what it has not posted, and posts nothing more', async () => {
  const { box, posted } = outbox();
  box.add(job(1), false);
  assert.deepEqual(
    box.close().map(({ id }) => id),
    [1],
  );
  box.answered();
  assert.deepEqual(box.close(), []);
  for (let at = 0; at < 20; at++) await turn();
  assert.deepEqual(posted, []);
});

test('an idle turn comes once for all who await it, and not after it was cancelled', async () => {
  let times = 0;
  const idle = new IdleTurn(1000, () => times++);
  idle.await();
  idle.await();
  for (let at = 0; at < 20; at++) await turn();
  assert.equal(times, 1);
  idle.await();
  idle.cancel();
  for (let at = 0; at < 20; at++) await turn();
  assert.equal(times, 1);
});

test('a busy event loop is waited for no longer than was said', async () => {
  let isOver = false;
  const idle = new IdleTurn(0, () => {
    isOver = true;
  });
  idle.await();
  await turn();
  assert.equal(isOver, true);
});
