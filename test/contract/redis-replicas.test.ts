import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { SCRIPTS } from '../../src/ledger/redis/scripts.ts';
import { admitArgs } from '../../src/ledger/redis/wire.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { addCall, admission, boundary, newAttempt, newCallId, parentOf, record, until } from './ledger/builders.ts';
import { assertKept, writeAndKill } from './ledger/killing.ts';
import { openRedisLedger } from './ledger/redis-store.ts';

const ORPHANED = 'request_finished_without_staged_coordinates';

describe('several replicas on one Redis', () => {
  let server: RedisServer;
  let client: Redis;
  before(async () => {
    server = await startRedis();
    client = new Redis(server.port, { lazyConnect: true });
    await client.connect();
  });
  after(async () => {
    client?.disconnect();
    await server?.stop();
  });
  /** Two replicas, on an empty store, with leases that do not run out by themselves. */
  const withTwo = async (use: (one: Ledger, two: Ledger) => Promise<void>) => {
    await client.flushall();
    const one = await openRedisLedger(server.url, { replica: 'one', leaseS: 60 });
    const two = await openRedisLedger(server.url, { replica: 'two', leaseS: 60 });
    try {
      await use(one, two);
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
  };
  /** What happens to a replica that is gone, or only slow, for longer than its lease. */
  const endLease = (replica: string) => client.del(`gmp:1:{replica:${replica}}:lease`);
  const snapshotOf = async (ledger: Ledger, attempt: string) => {
    const snapshot = await ledger.snapshot(attempt);
    assert.ok(snapshot !== 'retired');
    return snapshot;
  };

  it('see each other: a call through one continues a call through the other', async () => {
    await withTwo(async (one, two) => {
      const attempt = newAttempt();
      const parent = await addCall(one, attempt, ['task', 'answer']);
      const callId = newCallId();
      const outcome = await two.admit(
        admission(attempt, callId, { replica: 'two', boundary: boundary(['task', 'answer']) }),
      );
      assert.equal(parentOf(outcome), parent);
      assert.deepEqual((await snapshotOf(one, attempt)).pendingCallIds, [callId]);
      await one.close(attempt);
      assert.deepEqual(await two.admit(admission(attempt, newCallId())), { kind: 'refused', code: 'attempt_closed' });
      assert.equal(
        await two.commit(record(attempt, callId, ['task', 'answer', 'more', 'done'], { parent })),
        'committed',
      );
      assert.equal(await one.unsettled(attempt), 0);
    });
  });

  it('learn of what the others have done while they wait', async () => {
    await withTwo(async (one, two) => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await one.admit(admission(attempt, callId));
      const settled = (async () => {
        while ((await two.unsettled(attempt)) > 0) await two.changed(attempt, 60_000);
      })();
      await one.commit(record(attempt, callId, ['task', 'answer']));
      await settled;
    });
  });

  it('answer re-sends of each other', async () => {
    await withTwo(async (one, two) => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      const resend = { requestDigest: 'body', idempotencyKey: 'key' };
      await one.admit(admission(attempt, callId, { replica: 'one', resend }));
      const joined = await two.admit(admission(attempt, newCallId(), { replica: 'two', resend }));
      assert.deepEqual(joined, { kind: 'joined', callId });
      assert.deepEqual(await two.replyOf(attempt, callId), { kind: 'running' });
      await one.commit(record(attempt, callId, ['task', 'answer'], { replyJson: '{"the":"reply"}' }));
      assert.deepEqual(await two.replyOf(attempt, callId), { kind: 'finished', replyJson: '{"the":"reply"}' });
    });
  });

  it('settle what a killed one left once its lease has run out', async () => {
    const attempt = newAttempt();
    const killed = await writeAndKill(server.url, attempt, 8, 30);
    const ledger = await openRedisLedger(server.url, { leaseS: 60 });
    try {
      await assertKept(ledger, attempt, killed);
      const left = await ledger.unsettled(attempt);
      let settled = 0;
      await until(async () => {
        settled += (await ledger.sweep()).settledCalls;
        const replicas = await client.smembers('gmp:1:{all}:replicas');
        return !replicas.some((replica) => replica.startsWith('child-'));
      });
      assert.equal(settled, left);
      const snapshot = await snapshotOf(ledger, attempt);
      assert.deepEqual(snapshot.failures.map(({ callId }) => callId).sort(), [...snapshot.pendingCallIds].sort());
      assert.ok(snapshot.failures.every(({ reason }) => reason === ORPHANED));
      await ledger.sweep();
      const replicas = await client.smembers('gmp:1:{all}:replicas');
      assert.deepEqual(
        replicas.filter((replica) => replica.startsWith('child-')),
        [],
      );
    } finally {
      await ledger.stop();
    }
  });

  it('leave those alone whose lease is good', async () => {
    await withTwo(async (one, two) => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await one.admit(admission(attempt, callId, { replica: 'one' }));
      assert.deepEqual(await two.sweep(), { deadReplicas: [], settledCalls: 0 });
      assert.equal(await one.unsettled(attempt), 1);
    });
  });

  it('take a slow one for dead, and it goes on when it is back', async () => {
    await withTwo(async (one, two) => {
      const [attempt, early, late] = [newAttempt(), newCallId(), newCallId()];
      await one.admit(admission(attempt, early, { replica: 'one' }));
      await endLease('one');
      assert.deepEqual(await two.sweep(), { deadReplicas: ['one'], settledCalls: 1 });
      // It is back: its call commits late, and its next one is found should it die now, before it could renew its lease.
      assert.equal(await one.commit(record(attempt, early, ['task', 'answer'])), 'committed');
      assert.equal((await one.admit(admission(attempt, late, { replica: 'one' }))).kind, 'admitted');
      assert.deepEqual(await two.sweep(), { deadReplicas: ['one'], settledCalls: 1 });
      assert.deepEqual((await snapshotOf(two, attempt)).failures, [
        { callId: early, reason: ORPHANED },
        { callId: late, reason: ORPHANED },
      ]);
      await one.sweep();
      assert.deepEqual(await two.sweep(), { deadReplicas: [], settledCalls: 0 });
    });
  });

  it('find the calls of one that was taken for dead between its registration and its admission', async () => {
    await withTwo(async (_, two) => {
      const attempt = newAttempt();
      const key = (name: string) => `gmp:1:{${attempt}}:${name}`;
      const slow = async (isRegistered: boolean) => {
        const { lua, keys } = SCRIPTS.admit;
        const request = admission(attempt, callId, { replica: 'slow' });
        return (await client.eval(
          lua,
          keys.length,
          ...keys.map(key),
          ...admitArgs(request, isRegistered, []),
        )) as string[];
      };
      const callId = newCallId();
      // What Registrations does, for a replica that is too slow to renew its lease.
      const register = async () => {
        await client.sadd('gmp:1:{replica:slow}:attempts', attempt);
        const { lua, keys } = SCRIPTS.register;
        await client.eval(lua, keys.length, ...keys.map((name) => `gmp:1:{all}:${name}`), attempt, 'slow');
      };
      assert.deepEqual(await slow(false), ['register']);
      await register();
      assert.deepEqual((await two.sweep()).settledCalls, 0);
      assert.deepEqual(await slow(true), ['register']);
      await register();
      assert.equal((await slow(true))[0], 'admitted');
      assert.equal((await two.sweep()).settledCalls, 1);
      const { failures } = await snapshotOf(two, attempt);
      assert.deepEqual(failures, [{ callId, reason: ORPHANED }]);
    });
  });

  it('find the calls of a dead one in an attempt whose name was deleted and used again', async () => {
    await withTwo(async (one, two) => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await addCall(one, attempt, ['task', 'answer'], { admit: { replica: 'one' } });
      await two.delete([attempt]);
      await one.admit(admission(attempt, callId, { replica: 'one' }));
      assert.deepEqual((await two.attempts(null, 1000)).filter((overview) => overview.attempt === attempt).length, 1);
      await endLease('one');
      assert.deepEqual(await two.sweep(), { deadReplicas: ['one'], settledCalls: 1 });
      assert.deepEqual((await snapshotOf(two, attempt)).failures, [{ callId, reason: ORPHANED }]);
    });
  });

  it('settle each call once when several sweep at the same time', async () => {
    await withTwo(async (one, two) => {
      const three = await openRedisLedger(server.url, { replica: 'three', leaseS: 60 });
      const attempts = Array.from({ length: 250 }, newAttempt);
      for (const attempt of attempts) await one.admit(admission(attempt, newCallId(), { replica: 'one' }));
      await endLease('one');
      const reports = await Promise.all([two.sweep(), three.sweep(), two.sweep()]);
      assert.equal(
        reports.reduce((sum, report) => sum + report.settledCalls, 0),
        attempts.length,
      );
      for (const attempt of attempts) assert.equal((await snapshotOf(two, attempt)).failures.length, 1);
      await three.stop();
    });
  });

  it('take the clients of a dead one for gone, also those that only joined', async () => {
    await withTwo(async (one, two) => {
      const [attempt, callId, joiner] = [newAttempt(), newCallId(), newCallId()];
      const resend = { requestDigest: 'body', idempotencyKey: null };
      await two.admit(admission(attempt, callId, { replica: 'two', resend }));
      await two.clientGone(attempt, callId, callId);
      const request = admission(attempt, joiner, { replica: 'one', resend });
      assert.deepEqual(await one.admit(request), { kind: 'joined', callId });
      assert.equal((await two.admit(admission(attempt, newCallId(), { replica: 'two', resend }))).kind, 'admitted');
      await endLease('one');
      await two.sweep();
      assert.deepEqual(await two.admit(admission(attempt, newCallId(), { replica: 'two', resend })), {
        kind: 'joined',
        callId,
      });
      assert.equal(await two.unsettled(attempt), 2);
    });
  });

  it('keep every key of an attempt in one slot, and leave none behind that stays', async () => {
    await withTwo(async (one, two) => {
      const attempt = newAttempt();
      const resend = { requestDigest: 'body', idempotencyKey: 'key' };
      const parent = await addCall(one, attempt, ['task', 'a'], { admit: { resend } });
      await addCall(one, attempt, ['task', 'a', 'more', 'b'], { parent });
      const [failed, refused] = [newCallId(), newCallId()];
      for (const callId of [failed, refused]) await one.admit(admission(attempt, callId));
      await one.addFailure(attempt, failed, 'worker_capture_failed');
      await two.settleRefused(attempt, refused, 'worker_unreachable');
      const keys = await client.keys(`*${attempt}*`);
      assert.ok(keys.length > 10);
      assert.deepEqual(
        keys.filter((key) => !key.startsWith(`gmp:1:{${attempt}}:`)),
        [],
      );
      await two.delete([attempt]);
      for (const key of await client.keys(`*${attempt}*`)) assert.ok((await client.pttl(key)) > 0, key);
    });
  });

  it('run scripts that the server has forgotten', async () => {
    await withTwo(async (one) => {
      const attempt = newAttempt();
      await addCall(one, attempt, ['task', 'a']);
      await client.script('FLUSH');
      await addCall(one, attempt, ['task', 'b']);
      assert.equal((await snapshotOf(one, attempt)).recordCount, 2);
    });
  });
});
