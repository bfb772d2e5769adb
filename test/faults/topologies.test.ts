import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { DURABLE, type RedisServer } from '../support/redis-server.ts';
import { moveSlot, type SentinelSetup, startCluster, startSentinelSetup } from '../support/redis-topologies.ts';
import { eventually } from '../support/serve-process.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { figures, verdict } from './chaos/report.ts';
import { type ChaosOptions, runChaos } from './chaos/run-chaos.ts';

/** The chaos run on replicated and sharded Redis: a failover, and slots that move, under load. Then what replication can lose, and what `WAIT` buys. */

/** Sentinel takes its time to see a role, and where it has to begin anew it waits for twice its `failover-timeout`. */
const FAILOVER_MS = 90_000;

const BASE = { concurrency: 8, keepsFiles: true } as const;

describe('chaos on Redis topologies', () => {
  async function assertHolds(options: ChaosOptions, tell: (line: string) => void): Promise<void> {
    const report = await runChaos(options);
    for (const line of figures(report)) tell(line);
    assert.deepEqual(verdict(report), ['every invariant held']);
    assert.ok(report.replies > 0 && report.records > 0, 'no call came through');
  }

  test('Sentinel, a replica must acknowledge each write: a failover loses nothing', async (t) => {
    const setup = await startSentinelSetup({ args: DURABLE });
    try {
      await assertHolds(
        {
          ...BASE,
          seed: 'sentinel',
          ledger: { url: setup.url },
          flags: { 'ledger.wait_replicas': '1', 'ledger.wait_ms': '1000' },
          faults: { killReplica: 2, cutAgents: 1, cutWorker: 1 },
          meanPauseMs: 1_500,
          seconds: 18,
          async trouble() {
            await sleep(3_000);
            await failOver(setup, setup.master);
            await untilReplicated(setup);
          },
        },
        (line) => t.diagnostic(line),
      );
    } finally {
      await setup.stop();
    }
  });

  test('Cluster: slots move while their attempts are used, and nothing is lost', async (t) => {
    const cluster = await startCluster(3, { args: DURABLE });
    let moves = 0;
    try {
      await assertHolds(
        {
          ...BASE,
          seed: 'cluster',
          ledger: { url: cluster.url },
          faults: { killReplica: 2, cutAgents: 1, cutWorker: 1 },
          meanPauseMs: 1_500,
          seconds: 18,
          async trouble() {
            const until = performance.now() + 15_000;
            for (let turn = 1; performance.now() < until; turn += 1) {
              // Some of the first names of the load, and the lists that all attempts share.
              for (const name of [`chaos-${1 + (turn % 12)}`, `chaos-${1 + ((turn + 5) % 12)}`, 'all']) {
                await moveSlot(cluster, `{${name}}`);
                moves += 1;
              }
            }
          },
        },
        (line) => t.diagnostic(line),
      );
      t.diagnostic(`${moves} slots moved`);
      assert.ok(moves > 0);
    } finally {
      await cluster.stop();
    }
  });
});

/** Kills the master, waits until the other one is master, and brings it back as a replica, which may have to hear yet what it missed. */
async function failOver(setup: SentinelSetup, master: RedisServer): Promise<void> {
  const other = master === setup.master ? setup.replica : setup.master;
  await master.kill9();
  await eventually(
    () => roleOf(other),
    (role) => role === 'master',
    FAILOVER_MS,
  );
  // Before Sentinel is through with it, it could go back to a master that lives again.
  await eventually(
    () => Promise.all(setup.sentinels.map((sentinel) => masterPortOf(sentinel, setup.masterName))),
    (ports) => ports.every((port) => port === other.port),
    FAILOVER_MS,
  );
  await master.restart();
  // Sentinel would tell it, too, some time after it has seen it again.
  await commandTo(master, 'REPLICAOF', '127.0.0.1', String(other.port));
}

/** Whichever of them is the replica by now: on a busy machine Sentinel may have taken the new master for dead, too, and gone back to the old one. */
async function untilReplicated(setup: SentinelSetup): Promise<void> {
  await eventually(
    () => Promise.all([setup.master, setup.replica].map(stateOf)),
    (states) => states.some(([role, , , link]) => role === 'slave' && link === 'connected'),
    FAILOVER_MS,
  );
}

async function commandTo(server: RedisServer, name: string, ...args: string[]): Promise<void> {
  const client = new Redis(server.port, { lazyConnect: true });
  await client.connect();
  await client.call(name, ...args);
  client.disconnect();
}

async function masterPortOf(sentinel: RedisServer, masterName: string): Promise<number> {
  const client = new Redis(sentinel.port, { lazyConnect: true });
  await client.connect();
  const [, port] = (await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)) as [string, string];
  client.disconnect();
  return Number(port);
}

async function roleOf(server: RedisServer): Promise<string> {
  return String((await stateOf(server))[0]);
}

/** What `ROLE` answers. */
async function stateOf(server: RedisServer): Promise<unknown[]> {
  const client = new Redis(server.port, { lazyConnect: true, retryStrategy: null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.call('ROLE')) as unknown[];
  } catch {
    // Sentinel breaks the connections of a server whose role it changes.
    return ['away'];
  } finally {
    client.disconnect();
  }
}

/**
 * Redis replicates asynchronously. The same story twice: a call is admitted and both servers know it; then the link to the replica breaks, the worker answers, and
 * the master dies. Without `WAIT` the reply is out, and its record is lost with the master; with it the reply is held until the new master has a replica.
 */
describe('what a failover can lose', () => {
  const CHAT = { model: 'policy', messages: [{ role: 'user', content: 'task' }] };

  async function tell(
    waitReplicas: number,
    check: (stack: Stack, call: Promise<{ status: number; id: string }>, setup: SentinelSetup) => Promise<void>,
  ): Promise<void> {
    const setup = await startSentinelSetup({ args: DURABLE });
    const stack = await startStack({
      config: {
        'ledger.url': setup.url,
        'ledger.wait_replicas': String(waitReplicas),
        'ledger.wait_ms': '30000',
        'ledger.commit_retry_s': '60',
      },
    });
    try {
      assert.equal((await stack.post('/ng-rollout/before/v1/chat/completions', CHAT)).status, 200);
      stack.worker.arm({ kind: 'hold' });
      const call = stack
        .post('/ng-rollout/lost/v1/chat/completions', CHAT)
        .then((reply) => ({ status: reply.status, id: reply.json.id as string }));
      await stack.worker.whenHeld(1);
      await check(stack, call, setup);
    } finally {
      await stack.close();
      await setup.stop();
    }
  }

  /** The replica hears nothing more: its connection is broken, and it may not come back. */
  async function cutOff({ master, replica }: SentinelSetup): Promise<void> {
    const client = new Redis(master.port, { lazyConnect: true });
    await client.connect();
    await eventually(
      async () => String(await client.info('replication')),
      (info) =>
        /slave0:.*state=online/.test(info) &&
        offsetOf(info, 'slave0:.*offset') === offsetOf(info, 'master_repl_offset'),
    );
    // No replica may connect from now on; what is connected is thrown out.
    await client.call('ACL', 'SETUSER', 'default', '-psync', '-sync');
    await client.call('CLIENT', 'KILL', 'TYPE', 'replica');
    client.disconnect();
    assert.equal(await roleOf(replica), 'slave');
  }
  const offsetOf = (info: string, name: string) => new RegExp(`${name}[:=](\\d+)`).exec(info)?.[1];

  test('without WAIT: a reply that reached its agent has no record after the failover', async () => {
    await tell(0, async (stack, call, setup) => {
      await cutOff(setup);
      stack.worker.release();
      const reply = await call;
      assert.equal(reply.status, 200);
      await failOver(setup, setup.master);
      const ledger = await eventually(
        () => stack.control('GET', '/ledger/lost'),
        ({ status }) => status === 200,
      );
      const { manifest } = ledger.json;
      // The loss itself: this is what the documentation warns of.
      assert.deepEqual([manifest.records, manifest.pending_call_ids.length], [[], 1]);
    });
  });

  test('with ledger.wait_replicas: 1 the reply is held, and reaches its agent with its record', async () => {
    await tell(1, async (stack, call, setup) => {
      await cutOff(setup);
      stack.worker.release();
      const early = await Promise.race([call, sleep(1_500, 'held' as const)]);
      assert.equal(early, 'held');
      await failOver(setup, setup.master);
      const reply = await call;
      assert.equal(reply.status, 200);
      const { manifest } = (await stack.control('GET', '/ledger/lost')).json;
      assert.deepEqual([manifest.records.length, manifest.pending_call_ids], [1, []]);
      assert.equal(manifest.records[0].response_id, reply.id);
    });
  });
});
