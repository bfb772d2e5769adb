import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { attemptKey } from '../../src/ledger/redis/keys.ts';
import { startRedis } from '../support/redis-server.ts';
import { admission, newAttempt, newCallId, nowS } from './ledger/builders.ts';

/** An agent that asks the same many times at once must not keep the ledger from others: what an admission asks of the server does not grow with them. */

test('identical requests at the same time are calls of their own, and each asks the server for as little', async () => {
  const server = await startRedis({});
  const client = new Redis(server.port);
  const replies = { keepBytes: 1e6, keepS: 900 };
  const ledger = await openLedger({
    url: server.url,
    replica: 'r',
    now: nowS,
    replies,
    leaseS: 15,
    abandonedAfterS: null,
  });
  await ledger.start();
  const commands = async () => {
    const stats = (await client.info('commandstats')).matchAll(/^cmdstat_(?!info)\S+?:calls=(\d+)/gm);
    return [...stats].reduce((sum, [, calls]) => sum + Number(calls), 0);
  };
  try {
    const attempt = newAttempt();
    const resend = { requestDigest: 'the same', idempotencyKey: null };
    const calls = Array.from({ length: 1200 }, newCallId);
    const asked: number[] = [];
    for (const callId of calls) {
      const before = await commands();
      assert.equal((await ledger.admit(admission(attempt, callId, { resend, maxCalls: 5000 }))).kind, 'admitted');
      asked.push((await commands()) - before);
    }
    // The ids are looked up a thousand at a time.
    assert.deepEqual([asked[2], asked[900], asked[1100]], [asked[2], asked[2], (asked[2] as number) + 1]);
    const [left, ...others] = calls as [string, ...string[]];
    await ledger.clientGone(attempt, left);
    assert.deepEqual(await ledger.admit(admission(attempt, newCallId(), { resend, maxCalls: 5000 })), {
      kind: 'joined',
      callId: left,
    });
    for (const callId of [...others, left]) await ledger.delivered(attempt, callId);
    assert.equal(await client.hlen(attemptKey(attempt, 'resends')), 0);
  } finally {
    await ledger.stop();
    client.disconnect();
    await server.stop();
  }
});
