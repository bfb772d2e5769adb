import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { type Ledger, LedgerUnavailable } from '../../src/ledger/ledger.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { admission, newAttempt, newCallId, until } from './ledger/builders.ts';
import { openRedisLedger } from './ledger/redis-store.ts';

/**
 * A failover takes back what no replica had. Steps that rest on an earlier one must therefore not happen before replicas have that one: here none is there, the
 * step is written, the server's data are set back to what they were before, and then everything is well again.
 */
describe('what a failover takes back, where replicas must acknowledge', () => {
  let server: RedisServer;
  let replica: RedisServer;
  let client: Redis;
  before(async () => {
    server = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
    replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(server.port)] });
    client = new Redis(server.port, { lazyConnect: true });
    await client.connect();
  });
  beforeEach(async () => {
    await replica.restart();
    await until(async () => (await client.info('replication')).includes('state=online'));
    await client.flushall();
  });
  after(async () => {
    client?.disconnect();
    await replica?.stop();
    await server?.stop();
  });

  const open = (name: string) =>
    openRedisLedger(server.url, {
      replica: name,
      leaseS: 60,
      wantDurability: { waitReplicas: 1, waitMs: 100 },
      operationTimeoutMs: 5000,
    });
  /** The data now; what is returned sets them back to this. */
  async function remember(): Promise<() => Promise<void>> {
    const dumps = new Map<string, Buffer>();
    for (const key of await client.keys('*')) dumps.set(key, (await client.dumpBuffer(key)) as Buffer);
    return async () => {
      await client.flushall();
      for (const [key, dump] of dumps) await client.restore(key, 0, dump);
    };
  }
  const unavailable = (run: Promise<unknown>) => assert.rejects(run, LedgerUnavailable);
  async function settledOf(ledger: Ledger, attempt: string) {
    const snapshot = await ledger.snapshot(attempt);
    assert.ok(snapshot !== 'retired');
    const { pendingCallIds, refused, failures } = snapshot;
    return {
      pending: pendingCallIds,
      refused: refused.map((row) => row.callId),
      failed: failures.map((row) => row.callId),
    };
  }
  /** The replica is back, and the next sweep that comes through is over. */
  async function recover(ledger: Ledger): Promise<void> {
    await replica.restart();
    await until(async () =>
      ledger.sweep().then(
        () => true,
        () => false,
      ),
    );
  }

  it('an admission is given up until replicas know that it was', async () => {
    const ledger = await open('one');
    try {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await ledger.admit(admission(attempt, newCallId()));
      await replica.kill9();
      await unavailable(ledger.admit(admission(attempt, callId)));
      const setBack = await remember();
      await unavailable(ledger.sweep());
      assert.equal(await client.hexists(`gmp:1:{${attempt}}:voided`, callId), 1);
      await setBack();
      await recover(ledger);
      const { pending, refused } = await settledOf(ledger, attempt);
      assert.deepEqual([pending.length, refused], [1, [callId]]);
    } finally {
      await ledger.stop();
    }
  });

  it('a dead replica is swept until replicas know that it was', async () => {
    const [dead, alive] = [await open('dead'), await open('alive')];
    try {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await dead.admit(admission(attempt, callId));
      await client.del('gmp:1:{replica:dead}:lease');
      // What is taken over lies ready for whoever goes on.
      await client.rename('gmp:1:{replica:dead}:attempts', 'gmp:1:{replica:dead}:orphaned');
      await replica.kill9();
      const setBack = await remember();
      await unavailable(alive.sweep());
      await unavailable(alive.sweep());
      const lists = await client.smembers('gmp:1:{replica:dead}:orphaned');
      assert.deepEqual(lists, [attempt], 'it left the list before replicas knew of its rows');
      await setBack();
      await recover(alive);
      assert.deepEqual(await settledOf(alive, attempt), { pending: [callId], refused: [], failed: [callId] });
    } finally {
      await Promise.all([dead.stop(), alive.stop()]);
    }
  });

  it('nothing is admitted before replicas know who is registered for it', async () => {
    const ledger = await open('one');
    try {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await replica.kill9();
      await unavailable(ledger.admit(admission(attempt, callId)));
      assert.equal(await client.exists(`gmp:1:{${attempt}}:meta`), 0, 'a sweep might not find it');
      await recover(ledger);
      assert.equal((await ledger.admit(admission(attempt, callId))).kind, 'admitted');
      assert.deepEqual(await client.smembers('gmp:1:{replica:one}:attempts'), [attempt]);
    } finally {
      await ledger.stop();
    }
  });
});
