import { LedgerUnavailable } from '../ledger.ts';
import type { LedgerOptions } from '../options.ts';
import type { RedisUrl } from './client.ts';
import { attemptKey } from './keys.ts';
import { Link } from './link.ts';

const DEFAULT_WAIT_MS = 1000;
const MARK_LIFETIME_MS = '60000';

/**
 * Waits until replicas have what was written (`WAIT`), on a connection of its own, since WAIT blocks its connection. WAIT counts from the last write of the
 * connection that asks; the replication stream is ordered, so a mark that is written there first stands for everything that was answered before. One WAIT
 * serves everybody who came while the last one was on its way.
 */
export class ReplicaBarrier {
  readonly #link: Link;
  readonly #replicas: number;
  readonly #waitMs: number;
  readonly #perAttempt: boolean;
  /** The next round per node group: nobody has asked the server for it yet. */
  readonly #next = new Map<string, Promise<void>>();
  readonly #running = new Map<string, Promise<void>>();

  constructor(url: RedisUrl, wanted: NonNullable<LedgerOptions['wantDurability']>, timeoutMs: number) {
    this.#link = new Link(url, timeoutMs, null);
    this.#replicas = wanted.waitReplicas ?? 0;
    this.#waitMs = wanted.waitMs ?? DEFAULT_WAIT_MS;
    this.#perAttempt = url.kind === 'cluster';
  }

  start(): void {
    this.#link.connect();
  }

  stop(): void {
    this.#link.stop();
  }

  /** Resolves when everything that was answered for this attempt so far has reached the wanted number of replicas; throws LedgerUnavailable if it does not. */
  reached(attempt: string): Promise<void> {
    const group = this.#perAttempt ? attempt : '';
    const waiting = this.#next.get(group);
    if (waiting) return waiting;
    const before = this.#running.get(group) ?? Promise.resolve();
    const round = before.then(
      () => this.#round(group, attempt),
      () => this.#round(group, attempt),
    );
    this.#next.set(group, round);
    return round;
  }

  #round(group: string, attempt: string): Promise<void> {
    const round = this.#next.get(group)!;
    this.#next.delete(group);
    this.#running.set(group, round);
    const asked = this.#ask(attempt);
    const done = () => {
      if (this.#running.get(group) === round) this.#running.delete(group);
    };
    asked.then(done, done);
    return asked;
  }

  async #ask(attempt: string): Promise<void> {
    const mark = attemptKey(attempt, 'mark');
    const markAndWait = async () => {
      const pipeline = this.#link.client.pipeline();
      pipeline.set(mark, '1', 'PX', MARK_LIFETIME_MS).call('WAIT', this.#replicas, this.#waitMs);
      const answers = (await pipeline.exec()) ?? [];
      for (const [error] of answers) if (error) throw error;
      return Number(answers[1]?.[1]);
    };
    const acknowledged = await this.#link.ask('WAIT', markAndWait, this.#waitMs);
    if (!(acknowledged >= this.#replicas)) {
      throw new LedgerUnavailable(
        `${acknowledged} of ${this.#replicas} wanted replicas have acknowledged the write within ${this.#waitMs} ms`,
      );
    }
  }
}
