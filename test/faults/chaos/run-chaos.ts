import { setTimeout as sleep } from 'node:timers/promises';
import { checkEvidence } from './checks/index.ts';
import type { Violation } from './evidence.ts';
import { Book } from './load/book.ts';
import { Load } from './load/load.ts';
import { LoadWorld } from './load/world.ts';
import { FAULTS, type Fault, type Kills, Nemesis } from './nemesis.ts';
import { type Fleet, type FleetOptions, startFleet } from './processes/fleet.ts';
import { seeded } from './random.ts';
import { LEASE_S } from './settings.ts';

export interface ChaosOptions {
  readonly seed: string;
  readonly ledger: FleetOptions['ledger'];
  readonly plant?: FleetOptions['plant'];
  readonly flags?: FleetOptions['flags'];
  /** Rollouts at once. */
  readonly concurrency: number;
  /** Time between two faults, in the mean. */
  readonly meanPauseMs: number;
  readonly faults?: Readonly<Partial<Record<Fault, number>>>;
  /** Ends after so long, or before, once both counts are reached. */
  readonly seconds: number;
  readonly kills?: number;
  readonly calls?: number;
  /** Every how many-th attempt has its rows built in the end; the texts for that are kept in memory. */
  readonly rowsOfEvery?: number;
  /** Further trouble, by the one who knows the topology; it ends by itself. */
  readonly trouble?: (fleet: Fleet) => Promise<void>;
  /** Whether the processes' files stay where an invariant was broken. */
  readonly keepsFiles?: boolean;
  readonly onProgress?: (line: string) => void;
}

export interface ChaosReport {
  readonly seed: string;
  readonly seconds: number;
  /** Requests of agents, and those that were answered whole. */
  readonly requests: number;
  readonly replies: number;
  /** Requests by what came of them. */
  readonly answers: Readonly<Record<string, number>>;
  /** Calls that were admitted, by the worker's log: each is one inference. */
  readonly inferences: number;
  /** Calls in the last reading of each attempt. */
  readonly intents: number;
  readonly records: number;
  readonly pending: number;
  readonly refused: number;
  readonly attempts: number;
  readonly reusedNames: number;
  readonly removed: number;
  readonly kills: Kills;
  readonly faults: Readonly<Partial<Record<Fault, number>>>;
  readonly violations: readonly Violation[];
  /** Logs and files of all processes, where they were kept. */
  readonly folder: string | null;
}

/** One run: a fleet under load while it is broken, then peace, a last look at every attempt, and the verdict. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const random = seeded(options.seed);
  const every = options.rowsOfEvery ?? 1;
  const keepsText = (attempt: string) => Number(/\d+$/.exec(attempt)?.[0] ?? 0) % every === 0;
  const fleet = await startFleet({ ...options, plant: options.plant ?? null, keepsText });
  const book = new Book(keepsText);
  const world = new LoadWorld(
    fleet.fronts.map(({ port }, at) => ({ port, isUp: () => fleet.replicas[at]?.isRunning ?? false })),
    fleet.worker.files,
    book,
  );
  try {
    const startedMs = performance.now();
    const load = new Load(world, random.fork('load'), options.concurrency);
    const nemesis = new Nemesis(fleet, random.fork('nemesis'), {
      meanPauseMs: options.meanPauseMs,
      isActive: (attempt) => load.active.has(attempt),
    });
    nemesis.start(options.faults ?? FAULTS);
    const elapsedS = () => (performance.now() - startedMs) / 1000;
    const isEnough = () =>
      elapsedS() >= options.seconds ||
      (options.kills !== undefined &&
        nemesis.total >= options.kills &&
        fleet.worker.files.admitted.size >= (options.calls ?? 0));
    const failures: unknown[] = [];
    const trouble = options.trouble?.(fleet).catch((error: unknown) => failures.push(error));
    for (let ticks = 1; !isEnough() && failures.length === 0; ticks += 1) {
      await sleep(250);
      fleet.worker.files.read();
      if (ticks % 40 === 0) {
        const { total } = nemesis;
        options.onProgress?.(`${Math.round(elapsedS())} s: ${fleet.worker.files.admitted.size} calls, ${total} kills`);
      }
    }
    await trouble;
    await nemesis.stop();
    world.stop();
    await load.finished();
    if (failures.length > 0) throw failures[0];
    // Leases of the dead run out, and whoever lives settles what they left.
    await sleep(LEASE_S * 3000);
    await load.settle();
    fleet.worker.files.read();
    await world.client.close();
    const violations = await checkEvidence(book.evidence(fleet.worker.files));
    const isKept = violations.length > 0 && options.keepsFiles === true;
    if (isKept) fleet.keepFiles();
    const sums = book.incarnations.map(({ latest }) => latest);
    const sum = (of: (reading: NonNullable<(typeof sums)[number]>) => number) =>
      sums.reduce((all, reading) => all + (reading === null ? 0 : of(reading)), 0);
    return {
      seed: options.seed,
      seconds: elapsedS(),
      requests: book.sent.length,
      replies: book.sent.filter(({ outcome }) => outcome === 'reply').length,
      answers: countAnswers(book),
      inferences: fleet.worker.files.admitted.size,
      intents: sum(({ attempted, refused }) => attempted.length + refused.length),
      records: sum(({ records }) => records.length),
      pending: sum(({ pending }) => pending.length),
      refused: sum(({ refused }) => refused.length),
      attempts: book.incarnations.length,
      reusedNames: book.incarnations.filter(({ generation }) => generation > 1).length,
      removed: book.incarnations.filter(({ removed }) => removed !== null).length,
      kills: nemesis.killed,
      faults: nemesis.counts,
      violations,
      folder: isKept ? fleet.folder : null,
    };
  } finally {
    world.stop();
    await fleet.stop();
  }
}

function countAnswers(book: Book): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome, code } of book.sent) {
    const name = code ?? outcome;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
