import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { CallCounter, CallHistogram } from './call-metrics.ts';
import { type LedgerGauges, LedgerUnavailable } from './ledger/ledger.ts';
import type { Dialect } from './protocol/conversation.ts';

/** What this proxy does in a captured call. */
export type Phase = 'parse' | 'evidence' | 'admit' | 'render' | 'commit';
/** Whether a call goes on with an earlier one. */
type CallKind = 'root' | 'continuation';

/** Every metric of the service. Labels are low-cardinality: never an attempt, a call or a model. */
export type Metrics = ReturnType<typeof buildMetrics>;

const PHASE_BUCKETS_S = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5];
const CALL_BUCKETS_S = [0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** Less than a scrape waits. */
const GAUGES_WITHIN_MS = 1_000;

/** Null where the ledger is away or takes longer. */
async function inTime(gauges: Promise<LedgerGauges>, withinMs: number): Promise<LedgerGauges | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, withinMs, null);
  });
  const known = gauges.catch((error: unknown) => {
    if (error instanceof LedgerUnavailable) return null;
    throw error;
  });
  try {
    return await Promise.race([known, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

export function buildMetrics(readGauges: () => Promise<LedgerGauges>, nowS: () => number) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `gym_proxy_${name}`, help, labelNames, registers });
  const callCounter = <Values extends readonly string[]>(
    name: string,
    help: string,
    labelNames: { readonly [Index in keyof Values]: string },
  ) => new CallCounter<Values>({ name: `gym_proxy_${name}`, help, labelNames, registers });

  let look: Promise<LedgerGauges | null> | undefined;
  /** A gauge of the ledger. One look serves all of a scrape. While the ledger is away they keep their values: the other metrics matter most then. */
  const ledgerGauge = (name: string, help: string, value: (gauges: LedgerGauges) => number) =>
    new Gauge({
      name: `gym_proxy_${name}`,
      help,
      registers,
      async collect() {
        look ??= inTime(readGauges(), GAUGES_WITHIN_MS).finally(() => {
          look = undefined;
        });
        const gauges = await look;
        if (gauges !== null) this.set(value(gauges));
      },
    });
  ledgerGauge('open_attempts', 'Attempts that are open', (gauges) => gauges.openAttempts);
  ledgerGauge('pending_calls', 'Intents without a record, not refused', (gauges) => gauges.pendingCalls);
  ledgerGauge('kept_reply_bytes', 'Replies kept for re-sends', (gauges) => gauges.keptReplyBytes);
  ledgerGauge(
    'oldest_pending_call_age_seconds',
    'Age of the oldest pending call that has no failure row; 0 where there is none',
    ({ oldestPendingS }) => (oldestPendingS === null ? 0 : Math.max(0, nowS() - oldestPendingS)),
  );

  return {
    registry,
    calls: callCounter<[Dialect, `${boolean}`, string]>('calls_total', 'Finished calls', [
      'dialect',
      'captured',
      'outcome',
    ]),
    admissions: callCounter<[CallKind, string]>('admissions_total', 'Admitted calls', ['kind', 'cause']),
    commits: callCounter<[CallKind, 'in_time' | 'late']>('commits_total', 'Records committed', ['kind', 'timing']),
    failures: counter('failures_total', 'Failure rows', ['reason']),
    refusals: counter('refusals_total', 'Requests refused before inference, and intents settled as refused', ['code']),
    joins: counter('joins_total', 'Re-sends that joined a call', ['state']),
    dropped: counter('late_commits_dropped_total', 'Commits of attempts that are gone', []),
    stripped: counter('stripped_fields_total', 'Request members that an agent must not say', ['field']),
    ignored: counter('ignored_fields_total', 'Requests with members that are in no list', ['dialect']),
    clientsGone: counter('clients_gone_total', 'Agents that went away before their reply was handed over', []),
    attempts: counter('attempt_operations_total', 'Close, retire, delete', ['operation']),
    orphans: counter('orphaned_calls_total', 'Pending calls of dead replicas that got their failure row', []),
    workerErrors: counter('worker_errors_total', 'Worker calls that failed before an answer', ['kind']),
    inFlight: new Gauge({ name: 'gym_proxy_calls_in_flight', help: 'Calls in this process', registers }),
    workerUp: new Gauge({
      name: 'gym_proxy_worker_up',
      help: '1 for a worker that is believed healthy',
      labelNames: ['worker'],
      registers,
    }),
    ledgerCheck: new Gauge({
      name: 'gym_proxy_ledger_check',
      help: '1 for a durability check of the ledger that holds',
      labelNames: ['check'],
      registers,
    }),
    phaseSeconds: new CallHistogram<Phase>({
      name: 'gym_proxy_added_latency_seconds',
      help: 'Time that this proxy adds to a captured call, by phase',
      labelName: 'phase',
      buckets: PHASE_BUCKETS_S,
      registers,
    }),
    callSeconds: new CallHistogram<Dialect>({
      name: 'gym_proxy_call_seconds',
      help: 'Whole calls, inference included',
      labelName: 'dialect',
      buckets: CALL_BUCKETS_S,
      registers,
    }),
    eventLoopLagSeconds: new Histogram({
      name: 'gym_proxy_event_loop_lag_seconds',
      help: 'Delay of a timer on the event loop',
      buckets: PHASE_BUCKETS_S,
      registers,
    }),
  };
}
