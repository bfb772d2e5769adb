import type { LedgerOptions } from '../options.ts';
import type { Connection, Runner } from './connection.ts';
import { listKey, replicaKey } from './keys.ts';

const ORPHAN_REASON = 'request_finished_without_staged_coordinates';
const ATTEMPTS_PER_TAKE = 100;
const TAKES_PER_SWEEP = 20;

/**
 * Leases of replicas, and what dead ones left. `replicas` lists everybody who has registered for an attempt; a replica without a lease is dead. Its attempts
 * move to `orphaned`, from where any replica settles them one by one; only what is settled leaves, so nothing is lost when the one who sweeps dies too.
 */
export class Sweeper {
  readonly #connection: Connection;
  readonly #durable: Runner;
  readonly #replica: string;
  readonly #leaseMs: string;

  /** `durable`: for steps of which the next one relies on that they cannot be undone by a failover. */
  constructor(connection: Connection, durable: Runner, options: Pick<LedgerOptions, 'replica' | 'leaseS'>) {
    this.#connection = connection;
    this.#durable = durable;
    this.#replica = options.replica;
    this.#leaseMs = String(Math.ceil(options.leaseS * 1000));
  }

  async renewLease(): Promise<void> {
    await this.#connection.command('SET', replicaKey(this.#replica, 'lease'), '1', 'PX', this.#leaseMs);
    await this.#connection.command('SADD', listKey('replicas'), this.#replica);
  }

  async releaseLease(): Promise<void> {
    await this.#connection.command('DEL', replicaKey(this.#replica, 'lease'));
  }

  /** Settles what dead replicas left, a bounded part of it per call. `settled`: attempts in which calls got a failure row. */
  async settleOrphans(): Promise<{ deadReplicas: string[]; settledCalls: number; settled: string[] }> {
    const replicas = (await this.#connection.command('SMEMBERS', listKey('replicas'))) as string[];
    const outcome = { deadReplicas: [] as string[], settledCalls: 0, settled: [] as string[] };
    for (const replica of replicas) {
      if (replica === this.#replica) continue;
      if ((await this.#connection.command('EXISTS', replicaKey(replica, 'lease'))) === 1) continue;
      outcome.deadReplicas.push(replica);
      await this.#settle(replica, outcome);
    }
    return outcome;
  }

  async #settle(replica: string, outcome: { settledCalls: number; settled: string[] }): Promise<void> {
    for (let take = 0; take < TAKES_PER_SWEEP; take += 1) {
      const attempts = (await this.#durable.run('take_orphans', replica, [String(ATTEMPTS_PER_TAKE)])) as
        | string[]
        | null;
      if (attempts === null) return;
      if (attempts.length === 0) return this.#unlist(replica);
      for (const attempt of attempts) {
        const calls = (await this.#durable.run('settle_orphans', attempt, [replica, ORPHAN_REASON])) as number;
        await this.#durable.command('SREM', replicaKey(replica, 'orphaned'), attempt);
        outcome.settledCalls += calls;
        if (calls > 0) outcome.settled.push(attempt);
      }
    }
  }

  /** Looks once more after unlisting: the replica may have come back and registered in between. */
  async #unlist(replica: string): Promise<void> {
    await this.#durable.command('SREM', listKey('replicas'), replica);
    const isBack = await this.#durable.command('EXISTS', replicaKey(replica, 'attempts'));
    if (isBack === 1) await this.#durable.command('SADD', listKey('replicas'), replica);
  }
}
