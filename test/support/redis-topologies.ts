import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './ports.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const READY_TIMEOUT_MS = 30_000;
const SLOTS = 16_384;

export type SentinelSetup = {
  masterName: string;
  /** The server that is master at first; `url` finds the one that is master now. */
  master: RedisServer;
  replica: RedisServer;
  sentinels: RedisServer[];
  /** `redis+sentinel://h:p,h:p/<master name>` */
  url: string;
  stop(): Promise<void>;
};

/**
 * One master with a replica, watched by `sentinels` sentinels (default 1; 3 for a real vote). Answers once every sentinel
 * knows the replica and the other sentinels, so the master can be killed at once: failover takes a few seconds.
 */
export async function startSentinelSetup(
  options: { sentinels?: number; args?: string[] } = {},
): Promise<SentinelSetup> {
  const masterName = 'ledger';
  const count = options.sentinels ?? 1;
  const args = options.args ?? [];
  const started: RedisServer[] = [];
  const folders: string[] = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
    await Promise.all(folders.map((dir) => rm(dir, { recursive: true, force: true })));
  };
  try {
    const master = await startRedis({ args });
    started.push(master);
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(master.port), ...args] });
    started.push(replica);
    const sentinels: RedisServer[] = [];
    for (let index = 0; index < count; index += 1) {
      const dir = await mkdtemp(join(tmpdir(), 'gym-proxy-sentinel-'));
      folders.push(dir);
      const configFile = join(dir, 'sentinel.conf');
      await writeFile(configFile, sentinelConfig(masterName, master.port, Math.floor(count / 2) + 1));
      const sentinel = await startRedis({ dir, configFile, args: ['--sentinel'] });
      started.unshift(sentinel);
      sentinels.push(sentinel);
    }
    await Promise.all(sentinels.map((sentinel) => until(() => sentinelKnows(sentinel, masterName, count - 1))));
    const hosts = sentinels.map((sentinel) => `127.0.0.1:${sentinel.port}`).join(',');
    return { masterName, master, replica, sentinels, url: `redis+sentinel://${hosts}/${masterName}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function sentinelConfig(masterName: string, masterPort: number, quorum: number): string {
  return [
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} ${quorum}`,
    // A busy machine keeps a server from answering for a second.
    `sentinel down-after-milliseconds ${masterName} 2500`,
    `sentinel failover-timeout ${masterName} 5000`,
    `sentinel parallel-syncs ${masterName} 1`,
    '',
  ].join('\n');
}

async function sentinelKnows(sentinel: RedisServer, masterName: string, others: number): Promise<boolean> {
  return withClient(sentinel, async (client) => {
    const replicas = (await client.call('SENTINEL', 'REPLICAS', masterName)) as string[][];
    const sentinels = (await client.call('SENTINEL', 'SENTINELS', masterName)) as string[][];
    const usable = replicas.filter((fields) => field(fields, 'master-link-status') === 'ok');
    return usable.length === 1 && sentinels.length === others;
  });
}

function field(pairs: string[], name: string): string | undefined {
  return pairs[pairs.indexOf(name) + 1];
}

export type RedisCluster = {
  nodes: RedisServer[];
  /** `redis+cluster://h:p,h:p` */
  url: string;
  stop(): Promise<void>;
};

/** A Redis Cluster of `size` masters without replicas that share the slots evenly. Answers once all agree on that. */
export async function startCluster(size: number, options: { args?: string[] } = {}): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (let index = 0; index < size; index += 1) {
      const busPort = String(await freePort());
      const cluster = ['--cluster-enabled', 'yes', '--cluster-port', busPort, '--cluster-node-timeout', '2000'];
      const node = await startRedis({ args: [...cluster, ...(options.args ?? [])] });
      nodes.push(node);
      await withClient(node, async (client) => {
        const first = Math.floor((index * SLOTS) / size);
        const last = Math.floor(((index + 1) * SLOTS) / size) - 1;
        await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
        await client.call('CLUSTER', 'ADDSLOTSRANGE', first, last);
        if (index > 0) await meet(client, nodes[0]!);
      });
    }
    await Promise.all(nodes.map((node) => until(() => clusterIsWhole(node, size))));
    return { nodes, url: `redis+cluster://${nodes.map((node) => `127.0.0.1:${node.port}`).join(',')}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Moves the hash slot of a key from the node that has it to the next one, as `redis-cli --cluster reshard` does, while clients use it. Resolves when all nodes have
 * heard of it: the next move before that could give two nodes one epoch, and Redis then drops the keys of the one that yields.
 */
export async function moveSlot(cluster: RedisCluster, key: string): Promise<void> {
  const { nodes } = cluster;
  const ids = await Promise.all(
    nodes.map((node) => withClient(node, async (client) => client.call('CLUSTER', 'MYID'))),
  );
  const [slot, holder] = await withClient(nodes[0]!, async (client) => {
    const found = Number(await client.call('CLUSTER', 'KEYSLOT', key));
    const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number, string]][];
    return [String(found), ranges.find(([first, last]) => first <= found && found <= last)?.[2][2]] as const;
  });
  const from = ids.indexOf(holder);
  const to = (from + 1) % nodes.length;
  const [source, target] = [nodes[from]!, nodes[to]!];
  await withClient(target, (client) => client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(ids[from])));
  await withClient(source, async (client) => {
    await client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(ids[to]));
    for (;;) {
      const keys = (await client.call('CLUSTER', 'GETKEYSINSLOT', slot, '10')) as string[];
      if (keys.length === 0) break;
      await client.call('MIGRATE', '127.0.0.1', target.port, '', '0', '5000', 'KEYS', ...keys);
    }
  });
  for (const node of [target, ...nodes])
    await withClient(node, (client) => client.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(ids[to])));
  await until(async () => new Set(await Promise.all(nodes.map(viewOf))).size === 1);
}

/** Who has which slots under which epoch, as a node sees it. */
async function viewOf(node: RedisServer): Promise<string> {
  const text = String(await withClient(node, (client) => client.call('CLUSTER', 'NODES')));
  const lines = text
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  return lines
    .map(([id, , , , , , epoch, , ...slots]) =>
      [id, epoch, ...slots.filter((range) => !range.startsWith('['))].join(' '),
    )
    .sort()
    .join('\n');
}

async function meet(client: Redis, other: RedisServer): Promise<void> {
  const busPort = await withClient(other, async (otherClient) => {
    const [, value] = (await otherClient.config('GET', 'cluster-port')) as string[];
    return value!;
  });
  await client.call('CLUSTER', 'MEET', '127.0.0.1', other.port, busPort);
}

async function clusterIsWhole(node: RedisServer, size: number): Promise<boolean> {
  const info = await withClient(node, (client) => client.cluster('INFO'));
  return ['cluster_state:ok', `cluster_slots_ok:${SLOTS}`, `cluster_known_nodes:${size}`].every((line) =>
    info.includes(`${line}\r\n`),
  );
}

async function withClient<T>(server: RedisServer, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({ host: '127.0.0.1', port: server.port, lazyConnect: true, retryStrategy: null });
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`the Redis servers did not find each other in ${READY_TIMEOUT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
