import { setTimeout as sleep } from 'node:timers/promises';
import type { TcpProxy } from '../../support/tcp-proxy.ts';
import type { Fleet } from './processes/fleet.ts';
import type { ReplicaProcess } from './processes/replica-process.ts';
import type { Random } from './random.ts';
import { LEASE_S } from './settings.ts';

/** What it does to the fleet, by weight. */
export const FAULTS = {
  killReplica: 38,
  killRedis: 22,
  killWorker: 2,
  loseLedgerAnswers: 14,
  cutLedger: 5,
  slowLedger: 4,
  stallLedger: 3,
  cutAgents: 6,
  halfCloseAgents: 3,
  slowAgents: 2,
  cutWorker: 4,
  freezeReplica: 3,
} as const;
export type Fault = keyof typeof FAULTS;

export interface Kills {
  readonly replicas: number;
  readonly redis: number;
  readonly worker: number;
  /** Kills that hit a replica with calls between intent and record. */
  readonly inFlight: number;
}

/** How long a kill of a replica waits for one that has calls between intent and record. */
const AIM_MS = 400;
const DOWN_MS = [0, 250] as const;

/** Does one bad thing after the other to a fleet, by the seed, and repairs each. */
export class Nemesis {
  readonly counts: Partial<Record<Fault, number>> = {};
  private readonly kills = { replicas: 0, redis: 0, worker: 0, inFlight: 0 };
  private readonly fleet: Fleet;
  private readonly random: Random;
  private readonly isActive: (attempt: string) => boolean;
  private readonly meanPauseMs: number;
  private readonly repairs = new Set<Promise<void>>();
  private readonly busy = new Set<object>();
  private spared = 1;
  private stopped = false;
  private failure: Error | null = null;
  private running: Promise<void> = Promise.resolve();

  /** `isActive`: whose tokens a restarted worker still needs. */
  constructor(
    fleet: Fleet,
    random: Random,
    options: { readonly meanPauseMs: number; readonly isActive: (attempt: string) => boolean },
  ) {
    this.fleet = fleet;
    this.random = random;
    this.isActive = options.isActive;
    this.meanPauseMs = options.meanPauseMs;
  }

  /** The weights say how often each fault comes; those that this fleet cannot have are left out. */
  start(weights: Readonly<Partial<Record<Fault, number>>> = FAULTS): void {
    const { redis, ledgerLinks, replicas } = this.fleet;
    const possible = Object.entries(weights).filter(([fault]) => {
      if (fault === 'killRedis') return redis !== null;
      if (fault.endsWith('Ledger') || fault === 'loseLedgerAnswers') return ledgerLinks.length > 0;
      // A frozen SQLite process holds the lock on its file: nobody else could take over.
      return fault !== 'freezeReplica' || replicas.length > 1;
    });
    if (possible.length > 0) this.running = this.loop(Object.fromEntries(possible) as Record<Fault, number>);
  }

  get killed(): Kills {
    return { ...this.kills };
  }

  get total(): number {
    return this.kills.replicas + this.kills.redis + this.kills.worker;
  }

  /** Stops, and resolves once everything is repaired. Rejects if a process could not be started again. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
    while (this.repairs.size > 0) await Promise.all(this.repairs);
    if (this.failure !== null) throw this.failure;
  }

  private async loop(weights: Readonly<Record<Fault, number>>): Promise<void> {
    while (!this.stopped && this.failure === null) {
      await sleep(this.random.int(0, 2 * this.meanPauseMs));
      if (this.stopped) return;
      const fault = this.random.weighted(weights);
      const isDone = await this.cause(fault);
      if (isDone) this.counts[fault] = (this.counts[fault] ?? 0) + 1;
    }
  }

  /** False: what it would hit is down already. */
  private async cause(fault: Fault): Promise<boolean> {
    const { fleet, random } = this;
    switch (fault) {
      case 'killReplica':
        return this.killReplica();
      case 'killRedis':
        return this.occupy(fleet, async () => {
          await fleet.redis?.kill9();
          this.kills.redis += 1;
          await sleep(random.int(...DOWN_MS));
          await fleet.redis?.restart();
        });
      case 'killWorker':
        return this.occupy(fleet.worker, async () => {
          await fleet.worker.restart(this.isActive);
          this.kills.worker += 1;
        });
      case 'loseLedgerAnswers':
        random.pick(fleet.ledgerLinks).loseAnswers(random.int(1, 3));
        return true;
      case 'cutLedger':
        random.pick(fleet.ledgerLinks).cut();
        return true;
      case 'slowLedger':
        return this.spoil(random.pick(fleet.ledgerLinks), 'slow');
      case 'stallLedger':
        return this.spoil(random.pick(fleet.ledgerLinks), 'stall');
      case 'cutAgents':
        random.pick(fleet.fronts).cut();
        return true;
      case 'halfCloseAgents':
        random.pick(fleet.fronts).halfClose(random.pick(['up', 'down'] as const));
        return true;
      case 'slowAgents':
        return this.spoil(random.pick(fleet.fronts), 'slow');
      case 'cutWorker':
        fleet.workerLink.cut();
        return true;
      case 'freezeReplica': {
        const replica = random.pick(fleet.replicas);
        return this.occupy(replica, () => replica.freeze(LEASE_S * random.int(1200, 3000)));
      }
      default:
        return fault satisfies never;
    }
  }

  /** Kills the replica that has most calls between intent and record, as soon as there is one that has any. */
  private async killReplica(): Promise<boolean> {
    const target = await this.aim();
    if (target === null) return false;
    return this.occupy(target, async () => {
      const inFlight = await target.kill();
      this.kills.replicas += 1;
      if (inFlight > 0) this.kills.inFlight += 1;
      await sleep(this.random.int(...DOWN_MS));
      await target.start();
    });
  }

  private async aim(): Promise<ReplicaProcess | null> {
    this.spared = this.fleet.replicas.length === 1 || this.random.chance(0.1) ? 0 : 1;
    for (let waitedMs = 0; ; waitedMs += 5) {
      const up = this.fleet.replicas.filter((replica) => replica.isRunning && !this.busy.has(replica));
      // Now and then all are down at once; mostly one is left, so that the load goes on.
      if (up.length <= this.spared) return null;
      const [best] = up.sort((a, b) => b.inFlight.size - a.inFlight.size);
      if (best === undefined) return null;
      if (best.inFlight.size > 0 || waitedMs >= AIM_MS) return best;
      await sleep(5);
    }
  }

  private spoil(link: TcpProxy, how: 'slow' | 'stall'): Promise<boolean> {
    const { random } = this;
    return this.occupy(link, async () => {
      if (how === 'slow') link.slow(random.int(5, 60));
      else link.stall();
      await sleep(random.int(100, 900));
      if (how === 'slow') link.slow(0);
      else link.resume();
    });
  }

  /** Runs to its end beside the next faults, which leave what it has hit alone. */
  private async occupy(thing: object, work: () => Promise<void>): Promise<boolean> {
    if (this.busy.has(thing)) return false;
    this.busy.add(thing);
    const repair = work()
      .catch((error: Error) => {
        this.failure ??= error;
      })
      .finally(() => {
        this.busy.delete(thing);
        this.repairs.delete(repair);
      });
    this.repairs.add(repair);
    return true;
  }
}
