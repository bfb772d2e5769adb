import { randomUUID } from 'node:crypto';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/schema.ts';
import { KnownHistories } from './call/known-histories.ts';
import { OwedRows } from './call/owed-rows.ts';
import type { RunningCalls } from './call/running-calls.ts';
import { buildRunningCalls } from './call/running-calls.ts';
import { buildStrategy } from './call/strategy/build-strategy.ts';
import type { CaptureStrategy } from './call/strategy/strategy.ts';
import { buildEvents, type Events } from './events.ts';
import type { Ledger } from './ledger/ledger.ts';
import { openLedger } from './ledger/open-ledger.ts';
import { buildMetrics, type Metrics } from './metrics.ts';
import { WorkerPool } from './worker/worker-pool.ts';

/** Everything that is built once, in one visible place. Tests replace parts of it. */
export interface Context {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: Events;
  readonly ledger: Ledger;
  readonly workers: WorkerPool;
  readonly strategy: CaptureStrategy;
  readonly running: RunningCalls;
  readonly histories: KnownHistories;
  /** What the ledger could not be told while it was away. */
  readonly owed: OwedRows;
  /** `draining`: the process was told to stop, so new calls are refused and calls in flight are finished. `drained`: no call is waited for any more. */
  readonly lifecycle: { draining: boolean; drained: boolean };
  /** Name of this process in intents and leases; new at every start. */
  readonly replica: string;
  /** Seconds since the epoch. */
  readonly nowS: () => number;
  /** 32 hex digits of a UUID. */
  readonly newCallId: () => string;
}

export interface ContextOverrides {
  readonly log?: Logger;
  readonly ledger?: Ledger;
  readonly nowS?: () => number;
  readonly newCallId?: () => string;
  readonly replica?: string;
}

export async function buildContext(config: Config, overrides: ContextOverrides = {}): Promise<Context> {
  const log = overrides.log ?? pino({ level: config.log.level, base: null }, logDestination());
  const nowS = overrides.nowS ?? (() => Date.now() / 1000);
  const replica = overrides.replica ?? hexUuid();
  const ledger =
    overrides.ledger ??
    (await openLedger({
      url: config.ledger.url,
      replica,
      now: nowS,
      leaseS: config.ledger.lease_s,
      abandonedAfterS: config.ledger.abandoned_after_s,
      replies: { keepBytes: config.replies.keep_bytes, keepS: config.replies.keep_s },
      wantDurability: {
        appendfsyncAlways: config.ledger.require_appendfsync,
        waitReplicas: config.ledger.wait_replicas,
        waitMs: config.ledger.wait_ms,
      },
      onEvent: (event) => events.ledgerEvent(event),
    }));
  const metrics = buildMetrics(() => ledger.gauges(), nowS);
  const events = buildEvents(log, metrics);
  // Believed healthy until one fails; without this a worker that never failed would have no series.
  for (const worker of config.workers) metrics.workerUp.set({ worker }, 1);
  return {
    config,
    log,
    metrics,
    events,
    ledger,
    workers: new WorkerPool({
      urls: config.workers,
      apiKey: config.worker.api_key,
      apiKeys: config.worker.api_keys,
      connectMs: config.worker.connect_s * 1000,
      healthMs: config.worker.health_s * 1000,
      answerBytes: config.limits.answer_bytes,
      events,
    }),
    strategy: buildStrategy(config),
    running: buildRunningCalls(metrics),
    histories: new KnownHistories(config.limits.known_history_bytes),
    owed: new OwedRows(ledger, events),
    lifecycle: { draining: false, drained: false },
    replica,
    nowS,
    newCallId: overrides.newCallId ?? hexUuid,
  };
}

/** Longest text of log lines that waits for room. */
const MOST_LOG_BYTES = 1024 * 1024;

/** Standard output. What cannot be written there, as where the disk under it is full, waits for the next line; more than {@link MOST_LOG_BYTES} of it is lost, and nothing else. */
function logDestination() {
  const out = pino.destination({ dest: 1, sync: true, maxLength: MOST_LOG_BYTES });
  out.on('error', () => undefined);
  // Each line is written at once; the library's own last try does not return while there is no room.
  out.flushSync = () => undefined;
  return out;
}

/** 32 lowercase hex digits of a UUID. */
function hexUuid(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
}
