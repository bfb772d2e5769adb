import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../support/ports.ts';
import { DURABLE, type RedisServer, startRedis } from '../../../support/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../../../support/tcp-proxy.ts';
import { CONTROL_TOKEN, LEASE_S } from '../settings.ts';
import type { Plant } from './plants.ts';
import { ReplicaProcess } from './replica-process.ts';
import { WorkerProcess } from './worker-process.ts';

export interface FleetOptions {
  readonly seed: string;
  readonly ledger: 'redis' | 'sqlite' | { readonly url: string };
  readonly plant: Plant | null;
  /** Configuration over the harness's own. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** Of which attempts the staged records are kept whole, for rows to be built from. */
  readonly keepsText: (attempt: string) => boolean;
  /** Share of calls with a misbehaviour of the worker. */
  readonly workerFaults?: number;
}

/** All processes of a run and the connections between them: agents → replicas → ledger, replicas → worker, each through a proxy that can break it. */
export interface Fleet {
  readonly folder: string;
  readonly replicas: readonly ReplicaProcess[];
  readonly redis: RedisServer | null;
  readonly worker: WorkerProcess;
  /** What agents and trainers connect to, by replica. */
  readonly fronts: readonly TcpProxy[];
  /** By replica; empty where the ledger is a file, or somebody else's. */
  readonly ledgerLinks: readonly TcpProxy[];
  readonly workerLink: TcpProxy;
  /** `stop` leaves the folder. */
  keepFiles(): void;
  stop(): Promise<void>;
}

const REPLICAS = 3;

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'gym-proxy-chaos-'));
  let isKept = false;
  const cleanUp: (() => Promise<unknown> | unknown)[] = [
    () => (isKept ? undefined : rmSync(folder, { recursive: true, force: true })),
  ];
  const keepFiles = () => {
    isKept = true;
  };
  const stop = async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  };
  const own = <T>(thing: T, end: (thing: T) => Promise<unknown> | unknown): T => {
    cleanUp.push(() => end(thing));
    return thing;
  };
  try {
    const count = options.ledger === 'sqlite' ? 1 : REPLICAS;
    const ports = await freePorts(count + 1);
    const redis =
      options.ledger === 'redis' ? own(await startRedis({ args: DURABLE }), (server) => server.stop()) : null;
    const worker = own(
      new WorkerProcess({
        folder,
        port: ports[count] as number,
        seed: options.seed,
        faults: options.workerFaults ?? 0.02,
        keepsText: options.keepsText,
      }),
      (process) => process.end(),
    );
    await worker.start();
    const link = async (port: number) => own(await startTcpProxy({ port }), (proxy) => proxy.close());
    const workerLink = await link(worker.port);
    const fronts: TcpProxy[] = [];
    const ledgerLinks: TcpProxy[] = [];
    const replicas: ReplicaProcess[] = [];
    for (let at = 0; at < count; at += 1) {
      if (redis !== null) ledgerLinks.push(await link(redis.port));
      const port = ports[at] as number;
      const replica = new ReplicaProcess({
        number: at,
        folder,
        plant: options.plant,
        flags: {
          'server.port': String(port),
          'control.token': CONTROL_TOKEN,
          workers: workerLink.url,
          'ledger.url':
            redis !== null
              ? `redis://127.0.0.1:${ledgerLinks[at]?.port}`
              : typeof options.ledger === 'object'
                ? options.ledger.url
                : `sqlite:${join(folder, 'ledger.db')}`,
          'ledger.lease_s': String(LEASE_S),
          'ledger.commit_retry_s': '20',
          'deadlines.call_s': '15',
          'deadlines.drain_s': '5',
          'worker.health_s': '0.2',
          // Some replicas open their streams while the answer is awaited.
          'sse.grace_s': at === 0 ? '0.05' : '10',
          'sse.keepalive_s': '0.05',
          ...options.flags,
        },
      });
      replicas.push(own(replica, (process) => process.end()));
      fronts.push(await link(port));
    }
    await Promise.all(replicas.map((replica) => replica.start()));
    return { folder, replicas, redis, worker, fronts, ledgerLinks, workerLink, keepFiles, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
