import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Ledger, LedgerUnavailable } from '../../src/ledger/ledger.ts';
import { DURABLE, startRedis } from '../support/redis-server.ts';
import { moveSlot, startCluster, startSentinelSetup } from '../support/redis-topologies.ts';
import {
  addCall,
  admission,
  boundary,
  newAttempt,
  newCallId,
  parentOf,
  record,
  refusal,
  until,
} from './ledger/builders.ts';
import { openRedisLedger } from './ledger/redis-store.ts';

/** Tries until the store answers. */
async function untilAvailable<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Several clients that admit and commit until they are told to stop, through whatever happens meanwhile. */
function startLoad(ledger: Ledger, attempt: string, clients: number) {
  const committed: string[] = [];
  let isStopped = false;
  const running = Array.from({ length: clients }, async () => {
    while (!isStopped) {
      const callId = await untilAvailable(async () => {
        const id = newCallId();
        assert.equal((await ledger.admit(admission(attempt, id))).kind, 'admitted');
        return id;
      });
      const request = record(attempt, callId, ['task', callId], { recordJson: callId });
      const outcome = await untilAvailable(() => ledger.commit(request));
      assert.ok(['committed', 'already_committed'].includes(outcome), outcome);
      committed.push(callId);
    }
  });
  return {
    committed,
    async more(calls: number) {
      const target = committed.length + calls;
      await until(async () => committed.length >= target);
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

async function assertAllKept(ledger: Ledger, attempt: string, committed: readonly string[]): Promise<void> {
  const records = await untilAvailable(() => ledger.records(attempt, 0, 1_000_000));
  assert.equal(new Set(records).size, records.length);
  assert.deepEqual([...records].sort(), [...committed].sort());
  const snapshot = await ledger.snapshot(attempt);
  assert.ok(snapshot !== 'retired');
  const settled = new Set([...records, ...snapshot.refused.map(({ callId }) => callId)]);
  assert.deepEqual(
    snapshot.pendingCallIds,
    snapshot.attemptedCallIds.filter((callId) => !settled.has(callId)),
  );
}

describe('a Redis ledger whose server is killed', () => {
  it('keeps everything that was answered when the server is killed again and again', async () => {
    const durable = await startRedis({ args: DURABLE });
    const ledger = await openRedisLedger(durable.url, { operationTimeoutMs: 20_000 });
    try {
      const attempt = newAttempt();
      let kills = 0;
      const committed: string[] = [];
      const writing = Array.from({ length: 4 }, async () => {
        while (kills < 3) {
          const callId = newCallId();
          assert.equal((await ledger.admit(admission(attempt, callId))).kind, 'admitted');
          await ledger.commit(record(attempt, callId, ['task', callId], { recordJson: callId }));
          committed.push(callId);
        }
      });
      while (kills < 3) {
        const before = committed.length;
        await until(async () => committed.length > before + 20);
        await durable.kill9();
        await durable.restart();
        kills += 1;
      }
      await Promise.all(writing);
      const records = await ledger.records(attempt, 0, 100_000);
      assert.equal(new Set(records).size, records.length);
      assert.deepEqual([...records].sort(), [...committed].sort());
      const snapshot = await ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual([snapshot.pendingCallIds, snapshot.refused, snapshot.failures], [[], [], []]);
      assert.deepEqual(
        await ledger.admit(admission(attempt, committed[0]!, { admittedAtS: 1 })),
        refusal('duplicate_call'),
      );
    } finally {
      await ledger.stop();
      await durable.stop();
    }
  });
});

describe('a Redis ledger behind Sentinel', () => {
  it('keeps through a failover what it answered, where a replica must acknowledge each write', async () => {
    const setup = await startSentinelSetup({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    const ledger = await openRedisLedger(setup.url, {
      wantDurability: { waitReplicas: 1, waitMs: 500 },
      leaseS: 60,
      operationTimeoutMs: 3000,
    });
    try {
      const attempt = newAttempt();
      const load = startLoad(ledger, attempt, 4);
      await load.more(50);
      const [replicas] = (await ledger.check()).filter(({ name }) => name === 'ledger_replicas');
      assert.deepEqual(replicas, {
        name: 'ledger_replicas',
        ok: true,
        detail: '1 connected, 1 must acknowledge each write',
      });
      await setup.master.kill9();
      const killedAt = load.committed.length;
      // The new master has no replica yet: nothing is promised until the old one is back as one.
      await setup.master.restart();
      await until(async () => load.committed.length > killedAt + 50);
      await load.stop();
      await untilAvailable(() => ledger.sweep());
      await assertAllKept(ledger, attempt, load.committed);
    } finally {
      await ledger.stop();
      await setup.stop();
    }
  });

  it('promises nothing without the replicas that it was told to wait for', async () => {
    const setup = await startSentinelSetup();
    const ledger = await openRedisLedger(setup.url, { wantDurability: { waitReplicas: 1, waitMs: 200 }, leaseS: 60 });
    try {
      const attempt = newAttempt();
      await addCall(ledger, attempt, ['task', 'a']);
      const kept = newCallId();
      await ledger.admit(admission(attempt, kept));
      await ledger.commit(record(attempt, kept, ['task', 'b'], { replyJson: '{"the":"reply"}' }));
      await setup.replica.kill9();
      const callId = newCallId();
      await assert.rejects(
        ledger.admit(admission(attempt, callId)),
        /LedgerUnavailable: 0 of 1 wanted replicas have acknowledged the write within 200 ms/,
      );
      // What is read may be what nobody was promised yet: a trainer, or a client that sends again, must not be told.
      await assert.rejects(ledger.snapshot(attempt), LedgerUnavailable);
      await assert.rejects(ledger.replyOf(attempt, kept), LedgerUnavailable);
      await setup.replica.restart();
      // The same again: whether it had happened was not known.
      assert.equal((await untilAvailable(() => ledger.admit(admission(attempt, callId)))).kind, 'admitted');
    } finally {
      await ledger.stop();
      await setup.stop();
    }
  });
});

describe('a Redis ledger on a Cluster', () => {
  it('goes on while the slot of an attempt moves under load', async () => {
    const cluster = await startCluster(3);
    const ledger = await openRedisLedger(cluster.url, { leaseS: 60 });
    try {
      const attempt = newAttempt();
      const load = startLoad(ledger, attempt, 4);
      for (let move = 0; move < 3; move += 1) {
        await load.more(50);
        await moveSlot(cluster, `gmp:1:{${attempt}}:meta`);
      }
      await load.more(50);
      await load.stop();
      await assertAllKept(ledger, attempt, load.committed);
      const last = load.committed.at(-1)!;
      const next = await ledger.admit(admission(attempt, newCallId(), { boundary: boundary(['task', last]) }));
      assert.equal(parentOf(next), last);
    } finally {
      await ledger.stop();
      await cluster.stop();
    }
  });

  it('waits for replicas at the node that has the slot', async () => {
    const cluster = await startCluster(2);
    const ledger = await openRedisLedger(cluster.url, { wantDurability: { waitReplicas: 1, waitMs: 50 }, leaseS: 60 });
    try {
      for (let attempt = 0; attempt < 4; attempt += 1) {
        await assert.rejects(
          ledger.admit(admission(newAttempt(), newCallId())),
          /0 of 1 wanted replicas have acknowledged/,
        );
      }
    } finally {
      await ledger.stop();
      await cluster.stop();
    }
  });
});
