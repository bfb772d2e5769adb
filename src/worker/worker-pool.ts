import { hash } from 'node:crypto';
// Not from the package's front door, which loads all of it: a client in the way of browsers, a cache, mocks, 14 MB of memory.
import Pool from 'undici/lib/dispatcher/pool.js';
import type { Events } from '../events.ts';
import { type RelayOutcome, type RelaySink, relay } from './relay.ts';
import { type SendOutcome, type SendRequest, send } from './send.ts';

export interface WorkerPoolOptions {
  /** Base URLs without `/v1` and without a trailing slash. */
  readonly urls: readonly string[];
  readonly apiKey: string | null;
  /** By base URL; they win over `apiKey`. */
  readonly apiKeys: Readonly<Record<string, string>>;
  readonly connectMs: number;
  /** Time between two looks at a worker that failed. */
  readonly healthMs: number;
  /** Largest answer; a larger one is `lost`. */
  readonly answerBytes: number;
  readonly events: Pick<Events, 'workerError' | 'workerHealth'>;
}

/** Failures in a row (answers of 5xx) after which a worker is taken out; one refused or lost connection does it at once. */
const SERVER_ERRORS_IN_A_ROW = 3;
const TIMED_OUT = /^UND_ERR_(HEADERS|BODY)_TIMEOUT\b/;
/** Idle connections are closed well before the usual five seconds of a worker's own keep-alive, so that none dies under a request. */
const IDLE_CONNECTION_MS = 2_000;

/** One inference worker as this proxy sees it. */
export interface Worker {
  readonly url: string;
  /** Path in front of `/v1`. */
  readonly prefix: string;
  readonly connections: Pool;
  /** Of requests without a body, and of those with one. */
  readonly headers: Readonly<Record<string, string>>;
  readonly postHeaders: Readonly<Record<string, string>>;
  healthy: boolean;
  /** Whether it ever answered: until then it is only believed healthy. */
  seen: boolean;
  serverErrorsInARow: number;
}

/**
 * The inference workers: affinity, health, and the one place that sends to them. A rollout stays with its worker (rendezvous hash of the attempt
 * over the healthy ones), so that it keeps its prefix cache. Health looks at connections and at 5xx, never at how long a generation takes.
 */
export class WorkerPool {
  readonly workers: readonly Worker[];
  private readonly options: WorkerPoolOptions;
  private readonly probing = new Map<Worker, NodeJS.Timeout>();
  private turn = 0;

  constructor(options: WorkerPoolOptions) {
    this.options = options;
    this.workers = options.urls.map((url) => {
      const { origin, pathname } = new URL(url);
      const headers = headersFor(options.apiKeys[url] ?? options.apiKey);
      return {
        url,
        prefix: pathname === '/' ? '' : pathname,
        connections: new Pool(origin, {
          connect: { timeout: options.connectMs },
          keepAliveTimeout: IDLE_CONNECTION_MS,
          keepAliveMaxTimeout: IDLE_CONNECTION_MS,
          pipelining: 1,
          // Over HTTP/2 undici sends a refused request again by itself, and a captured call is sent once.
          allowH2: false,
          maxResponseSize: options.answerBytes,
        }),
        headers,
        postHeaders: { ...headers, 'content-type': 'application/json' },
        healthy: true,
        seen: false,
        serverErrorsInARow: 0,
      };
    });
  }

  /** Workers in the order in which a call of this attempt should try them: healthy ones by rendezvous hash, then the others. Null: take turns. */
  order(attempt: string | null): Worker[] {
    const offset = this.turn++;
    const score = (worker: Worker, at: number): string =>
      attempt === null
        ? String((at + offset) % this.workers.length).padStart(6, '0')
        : hash('sha256', `${attempt}\n${worker.url}`);
    if (this.workers.length === 1) return [...this.workers];
    return this.workers
      .map((worker, at) => ({ worker, score: score(worker, at) }))
      .sort((a, b) => Number(b.worker.healthy) - Number(a.worker.healthy) || (a.score < b.score ? -1 : 1))
      .map(({ worker }) => worker);
  }

  /** Posts JSON once. An `unreachable` outcome means that no byte left. */
  async post(worker: Worker, path: string, body: Buffer, signal?: AbortSignal): Promise<SendOutcome> {
    const outcome = await send(worker.connections, posted(worker, path, body, signal));
    this.note(worker, outcome);
    return outcome;
  }

  /** Asks a worker with a short time limit, for the whole of the answer: models, health. */
  async get(worker: Worker, path: string, timeoutMs: number): Promise<SendOutcome> {
    const outcome = await this.ask(worker, path, timeoutMs);
    this.note(worker, outcome);
    return outcome;
  }

  /** Posts JSON once and passes a 200 answer through to `sink`. */
  async stream(
    worker: Worker,
    path: string,
    body: Buffer,
    sink: RelaySink,
    signal: AbortSignal,
  ): Promise<RelayOutcome> {
    const outcome = await relay(worker.connections, posted(worker, path, body, signal), sink);
    if (outcome.kind !== 'relayed' && outcome.kind !== 'broken_off') this.note(worker, outcome);
    return outcome;
  }

  /** Notes what a try said about a worker's health. */
  note(worker: Worker, outcome: SendOutcome): void {
    if (outcome.kind === 'response') {
      worker.seen = true;
      worker.serverErrorsInARow = outcome.status >= 500 ? worker.serverErrorsInARow + 1 : 0;
      if (worker.serverErrorsInARow === 0) this.setHealth(worker, true);
      else if (worker.serverErrorsInARow >= SERVER_ERRORS_IN_A_ROW) this.setHealth(worker, false);
      return;
    }
    // We gave up; a busy worker is no failed one.
    if (outcome.detail === 'cancelled' || TIMED_OUT.test(outcome.detail)) return;
    this.options.events.workerError(outcome.kind, worker.url, outcome.detail);
    if (outcome.kind === 'unreachable' || !outcome.headSeen) this.setHealth(worker, false);
  }

  /** True if at least one worker answers; if none is known to, they are looked at first. */
  async anyReachable(): Promise<boolean> {
    if (this.workers.some((worker) => worker.healthy && worker.seen)) return true;
    const looks = this.workers.map(async (worker) => {
      await this.probe(worker);
      if (!worker.healthy) throw new Error(`${worker.url} does not answer`);
    });
    // The first one that answers is enough.
    return Promise.any(looks).then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    for (const timer of this.probing.values()) clearTimeout(timer);
    await Promise.all(this.workers.map(({ connections }) => connections.destroy()));
  }

  private ask(worker: Worker, path: string, timeoutMs: number): Promise<SendOutcome> {
    return send(worker.connections, {
      method: 'GET',
      path: worker.prefix + path,
      headers: worker.headers,
      body: null,
      signal: AbortSignal.timeout(timeoutMs),
      headTimeoutMs: timeoutMs,
    });
  }

  private setHealth(worker: Worker, healthy: boolean): void {
    if (worker.healthy === healthy) return;
    worker.healthy = healthy;
    if (healthy) worker.serverErrorsInARow = 0;
    this.options.events.workerHealth(worker.url, healthy);
    if (!healthy) this.scheduleProbe(worker);
  }

  private scheduleProbe(worker: Worker): void {
    if (this.probing.has(worker)) return;
    const timer = setTimeout(async () => {
      await this.probe(worker);
      this.probing.delete(worker);
      if (!worker.healthy) this.scheduleProbe(worker);
    }, this.options.healthMs);
    this.probing.set(worker, timer);
    timer.unref();
  }

  private async probe(worker: Worker): Promise<void> {
    const outcome = await this.ask(worker, '/health', this.options.healthMs);
    if (outcome.kind === 'response' && outcome.status < 500) {
      worker.seen = true;
      this.setHealth(worker, true);
    } else if (!worker.seen) {
      this.setHealth(worker, false);
    }
  }
}

function headersFor(apiKey: string | null): Record<string, string> {
  return {
    accept: 'application/json',
    // Answers are read and passed on as they come.
    'accept-encoding': 'identity',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };
}

function posted(worker: Worker, path: string, body: Buffer, signal: AbortSignal | undefined): SendRequest {
  return { method: 'POST', path: worker.prefix + path, headers: worker.postHeaders, body, signal };
}
