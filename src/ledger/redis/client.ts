import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { LedgerUrl } from '../ledger-url.ts';

export type RedisUrl = Exclude<LedgerUrl, { kind: 'sqlite' }>;
export type Client = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 3000;
/** A connection that is silent for so long while an answer is due counts as dead: a host that vanished sends no FIN. */
const SILENCE_MS = 3000;
const MAX_RECONNECT_DELAY_MS = 500;

/**
 * A client that never sends anything a second time by itself: a command whose answer is lost fails at once, and Link decides.
 * Without automatic pipelining, which halves the throughput here. `silenceMs` null: for a connection that blocks on purpose.
 */
export function createClient(url: RedisUrl, silenceMs: number | null = SILENCE_MS): Client {
  const common = {
    ...(url.username === null ? {} : { username: url.username }),
    ...(url.password === null ? {} : { password: url.password }),
    ...(url.tls ? { tls: {} } : {}),
    ...(silenceMs === null ? {} : { socketTimeout: silenceMs }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    protocol: 2,
  } satisfies RedisOptions;
  const reconnecting = {
    ...common,
    db: url.db,
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: reconnectDelayMs,
    // A master that became a replica of another one: ask for the master again.
    reconnectOnError: (error: Error) => error.message.includes('READONLY'),
  } satisfies RedisOptions;
  switch (url.kind) {
    case 'redis':
      return new Redis({ ...reconnecting, host: url.host, port: url.port });
    case 'sentinel':
      return new Redis({
        ...reconnecting,
        sentinels: [...url.sentinels],
        name: url.master,
        enableTLSForSentinelMode: url.tls,
        sentinelRetryStrategy: reconnectDelayMs,
        failoverDetector: true,
        ...(url.tls ? { sentinelTLS: {} } : {}),
      });
    case 'cluster': {
      return new Cluster([...url.nodes], {
        redisOptions: common,
        lazyConnect: true,
        enableOfflineQueue: false,
        enableAutoPipelining: false,
        clusterRetryStrategy: reconnectDelayMs,
        // Nodes behind TLS present certificates for their names: connect by the names that the cluster announces.
        ...(url.tls ? { dnsLookup: (address, callback) => callback(null, address) } : {}),
      });
    }
    default:
      return url satisfies never;
  }
}

function reconnectDelayMs(times: number): number {
  return Math.min(10 * 2 ** Math.min(times, 10), MAX_RECONNECT_DELAY_MS);
}
