import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LostAdmissions } from '../../../src/ledger/redis/lost-admissions.ts';

test('of too many lost admissions the first ones are kept: they are on their way to the server', async () => {
  const settled: string[] = [];
  const lost = new LostAdmissions({
    run: async (_name, _owner, [callId]) => {
      settled.push(callId as string);
      return 0;
    },
    command: () => Promise.reject(new Error('not used')),
  });
  for (let at = 0; at < 100_010; at++) lost.add('a', `c${at}`);
  await lost.settle();
  assert.deepEqual([settled.length, settled[0], settled.at(-1)], [100_000, 'c0', 'c99999']);
});
