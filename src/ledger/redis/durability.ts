import { LedgerUnavailable } from '../ledger.ts';
import type { LedgerOptions } from '../options.ts';
import type { RedisUrl } from './client.ts';
import type { Runner } from './connection.ts';
import { keyBeside, scriptKeys } from './keys.ts';
import { kindOfFailure, Link } from './link.ts';
import { SCRIPTS, type ScriptName } from './scripts.ts';

const DEFAULT_WAIT_MS = 1000;
const MARK_LIFETIME_MS = '60000';
const JOBS_PER_ROUND = 256;

type Pipeline = ReturnType<Link['client']['pipeline']>;

interface Job {
  readonly name: string;
  /** The first of its keys: all lie in one hash slot. */
  readonly key: string;
  /** Puts it into a pipeline; scripts whole, where the server may not know them. */
  readonly queue: (pipeline: Pipeline, whole: boolean) => void;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Reply = [error: Error | null, reply: unknown];

/**
 * Runs what has to have reached replicas (`WAIT`) before it counts, on a connection of its own, since WAIT blocks its connection. Scripts and WAIT
 * go in one pipeline: a WAIT on another connection could be answered by another server, after a failover, and would then say nothing about what the old one has
 * done. If the connection breaks, the whole round runs again, on whoever is master then; every script can.
 *
 *     script, script, ..., mark, WAIT        and while that is on its way the scripts of the next round gather
 *
 * WAIT counts from the last write of its connection, and a script that ran before may write nothing, or a reading one may have seen what others wrote: the
 * replication stream is ordered, so the mark stands for everything before it.
 */
export class ReplicatedRunner implements Runner {
  readonly #link: Link;
  readonly #replicas: number;
  readonly #waitMs: number;
  readonly #perSlot: boolean;
  /** By hash tag on a Cluster, else one: what waits for the next round. A group is there while a round of it is on its way. */
  readonly #groups = new Map<string, Job[]>();

  constructor(url: RedisUrl, wanted: NonNullable<LedgerOptions['wantDurability']>, timeoutMs: number) {
    this.#link = new Link(url, timeoutMs, null);
    this.#replicas = wanted.waitReplicas ?? 0;
    this.#waitMs = wanted.waitMs ?? DEFAULT_WAIT_MS;
    this.#perSlot = url.kind === 'cluster';
  }

  start(): void {
    this.#link.connect();
  }

  stop(): void {
    this.#link.stop();
  }

  /** Resolves with the script's reply once everything that it wrote or read has reached the wanted number of replicas; rejects with LedgerUnavailable if it does not. */
  run(name: ScriptName, owner: string, args: readonly string[]): Promise<unknown> {
    const { sha1, lua, keys: names } = SCRIPTS[name];
    const keys = scriptKeys(names, owner);
    return this.#enlist(name, keys[0] as string, (pipeline, whole) => {
      if (whole) pipeline.eval(lua, keys.length, ...keys, ...args);
      else pipeline.evalsha(sha1, keys.length, ...keys, ...args);
    });
  }

  /** As `run`, for a plain command on one key. */
  command(name: string, key: string, ...args: string[]): Promise<unknown> {
    return this.#enlist(name, key, (pipeline) => pipeline.call(name, key, ...args));
  }

  #enlist(name: string, key: string, queue: Job['queue']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const job = { name, key, queue, resolve, reject };
      const group = this.#perSlot ? keyBeside(key, '') : '';
      const waiting = this.#groups.get(group);
      if (waiting !== undefined) waiting.push(job);
      else void this.#serve(group, [job]);
    });
  }

  /** Round after round, until nothing waits; never rejects. */
  async #serve(group: string, first: Job[]): Promise<void> {
    const waiting: Job[] = [];
    this.#groups.set(group, waiting);
    for (let jobs = first; jobs.length > 0; jobs = waiting.splice(0, JOBS_PER_ROUND)) await this.#round(jobs);
    this.#groups.delete(group);
  }

  async #round(jobs: readonly Job[]): Promise<void> {
    try {
      const replies = await this.#link.ask('WAIT', () => this.#send(jobs, false), this.#waitMs);
      const acknowledged = Number(replies.at(-1)?.[1]);
      if (!(acknowledged >= this.#replicas)) {
        throw new LedgerUnavailable(
          `${acknowledged} of ${this.#replicas} wanted replicas have acknowledged the write within ${this.#waitMs} ms`,
        );
      }
      for (const [at, job] of jobs.entries()) settle(job, replies[at] as Reply);
    } catch (error) {
      for (const { reject } of jobs) reject(error as Error);
    }
  }

  /** One reply per job, then those of the mark and of WAIT. Throws what passes, or what concerns the whole round. */
  async #send(jobs: readonly Job[], whole: boolean): Promise<Reply[]> {
    const pipeline = this.#link.client.pipeline();
    for (const { queue } of jobs) queue(pipeline, whole);
    const mark = keyBeside((jobs[0] as Job).key, 'mark');
    pipeline.set(mark, '1', 'PX', MARK_LIFETIME_MS).call('WAIT', this.#replicas, this.#waitMs);
    const replies = ((await pipeline.exec()) ?? []) as Reply[];
    if (!whole && replies.some(([error]) => error?.message.startsWith('NOSCRIPT'))) return this.#send(jobs, true);
    for (const [at, [error]] of replies.entries())
      if (error !== null && (at >= jobs.length || kindOfFailure(error) === 'again')) throw error;
    return replies;
  }
}

function settle({ name, resolve, reject }: Job, [error, reply]: Reply): void {
  if (error === null) resolve(reply);
  else if (kindOfFailure(error) === 'unavailable')
    reject(new LedgerUnavailable(`Redis could not run ${name}: ${error.message}`, { cause: error }));
  else reject(new Error(`${name} failed on Redis: ${error.message}`, { cause: error }));
}
