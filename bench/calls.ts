import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDist } from '../scripts/build-dist.ts';
import { startRedis } from '../test/support/redis-server.ts';
import type { LoadMode } from './load.ts';
import {
  type BenchProcess,
  isPinned,
  type LoadProcess,
  pinToOtherCore,
  startLoadProcess,
  startServerProcess,
} from './processes.ts';

/**
 * Calls per second of the proxy, captured, against a plain pass-through of the same bodies: as ratios within one run, since machines differ. Returns what was
 * missed.
 */
export async function benchCalls(quick: boolean): Promise<string[]> {
  const missed: string[] = [];
  buildDist(dirname(import.meta.dirname));
  const folder = await mkdtemp(join(tmpdir(), 'gym-bench-'));
  const load = await startLoadProcess();
  const redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec'] });
  pinToOtherCore(redis.pid);
  try {
    console.log(`20-turn rollouts, 16 clients, ${isPinned() ? 'proxy alone on one core' : 'not pinned to cores'}`);
    const taken = newTaken();
    for (let start = 1; start <= (quick ? 1 : STARTS); start++) {
      const sqliteUrl = `sqlite:${join(folder, `ledger-${start}.db`)}`;
      const servers = await Promise.all([
        passThrough(load.workerUrl),
        proxy(load.workerUrl, sqliteUrl),
        proxy(load.workerUrl, redis.url),
      ]);
      const [plain, sqlite, onRedis] = servers;
      try {
        await compare(load, quick ? 3 : ROUNDS_PER_START, { plain, sqlite, redis: onRedis }, taken);
      } finally {
        await Promise.all(servers.map((server) => server.stop()));
      }
    }
    report(taken, missed);
    await withProxy(load, `sqlite:${join(folder, 'modes.db')}`, async (server) => {
      await benchModes(load, server, quick, missed);
      await checkContinued(server, missed);
    });
    if (!quick)
      await withProxy(load, `sqlite:${join(folder, 'memory.db')}`, (server) => measureMemory(load, server, missed));
  } finally {
    await load.stop();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return missed;
}

const SHAPE = { clients: 16, turns: 20, turnBytes: 4_200 };

/** A replica is at full speed after some thousand calls. */
const WARMING_ROUNDS = 6;
const CALLS_PER_ROUND = 1_500;

/** Processes of one build differ by some percent for as long as they live, so the servers are started anew in between. */
const STARTS = 3;
const ROUNDS_PER_START = 6;

const SERVERS = ['plain', 'sqlite', 'redis'] as const;
type ServerName = (typeof SERVERS)[number];

/** What was measured of each server, a figure per round: calls per second, and microseconds of CPU time per call. */
type Taken = Readonly<Record<ServerName, { readonly rates: number[]; readonly cpuUs: number[] }>>;

function newTaken(): Taken {
  const none = () => ({ rates: [], cpuUs: [] });
  return { plain: none(), sqlite: none(), redis: none() };
}

/** Measures the servers in turns: the machine's speed changes within a minute, so the turns are short. */
async function compare(
  load: LoadProcess,
  rounds: number,
  servers: Readonly<Record<ServerName, BenchProcess>>,
  taken: Taken,
): Promise<void> {
  for (let round = -WARMING_ROUNDS; round < rounds; round++) {
    for (const name of inOrder(SERVERS, round + WARMING_ROUNDS)) {
      const before = await servers[name].cpuS();
      const run = { ...SHAPE, mode: 'chat', calls: CALLS_PER_ROUND } as const;
      const { callsPerSecond } = await load.run({ ...run, url: servers[name].url, captured: name !== 'plain' });
      if (round < 0) continue;
      taken[name].rates.push(callsPerSecond);
      taken[name].cpuUs.push((((await servers[name].cpuS()) - before) / CALLS_PER_ROUND) * 1e6);
    }
  }
}

/** Calls per second of the proxies as a part of those of the pass-through: what counts is the median of the ratios of each round. */
function report(taken: Taken, missed: string[]): void {
  for (const name of SERVERS) {
    const { rates, cpuUs } = taken[name];
    const [slowest, fastest] = [Math.min(...rates), Math.max(...rates)].map(Math.round);
    console.log(
      `  ${name}: ${Math.round(median(rates))} calls/s (${slowest} to ${fastest}), ${Math.round(median(cpuUs))} µs of CPU per call`,
    );
  }
  for (const name of ['sqlite', 'redis'] as const) {
    const ratio = median(taken[name].rates.map((rate, at) => rate / (taken.plain.rates[at] as number)));
    console.log(`captured chat on ${name}: ${ratio.toFixed(2)} of the pass-through (wanted: at least 0.50)`);
    if (ratio < 0.5) missed.push(`captured chat on ${name}: ${ratio.toFixed(2)} < 0.50`);
  }
}

/** Each round begins with another server: who comes first, or behind whom, makes some percent. */
function inOrder<Name>(names: readonly Name[], round: number): Name[] {
  const first = round % names.length;
  return [...names.slice(first), ...names.slice(0, first)];
}

/**
 * What the other dialects and streams cost per body byte, against Chat: in CPU time of the proxy, which other load on the machine changes least. In short turns, since
 * the machine's speed changes; what counts is the median of the ratios of each round.
 */
async function benchModes(load: LoadProcess, server: BenchProcess, quick: boolean, missed: string[]): Promise<void> {
  const calls = quick ? 600 : 800;
  const modes: LoadMode[] = ['chat', 'chat-stream', 'responses', 'responses-stream', 'messages', 'messages-stream'];
  const ratios = Object.fromEntries(modes.map((mode) => [mode, [] as number[]])) as Record<LoadMode, number[]>;
  const warming = quick ? 1 : 3;
  for (let round = -warming; round < (quick ? 1 : 9); round++) {
    const cost: Partial<Record<LoadMode, number>> = {};
    for (const mode of inOrder(modes, round + warming)) {
      const before = await server.cpuS();
      const result = await load.run({ ...SHAPE, url: server.url, mode, captured: true, calls });
      cost[mode] = ((await server.cpuS()) - before) / result.bodyBytes;
    }
    if (round >= 0) for (const mode of modes) ratios[mode].push((cost[mode] as number) / (cost.chat as number));
  }
  for (const mode of modes.slice(1)) {
    const ratio = median(ratios[mode]);
    console.log(`${mode}: ${ratio.toFixed(2)} times the cost of chat per body byte (wanted: at most 1.30)`);
    if (ratio > 1.3) missed.push(`${mode}: ${ratio.toFixed(2)} > 1.30`);
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

/** Only the first call of a rollout of 20 turns is a root, and a run ends amid some; a load that does not repeat the answers that it got has no others. */
const MOST_ROOTS = 0.2;

async function checkContinued(server: BenchProcess, missed: string[]): Promise<void> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const admitted = (kind: string) => {
    const counts = metrics.matchAll(new RegExp(`^\\w+_admissions_total\\{kind="${kind}",.*\\} (\\d+)$`, 'gm'));
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const share = admitted('root') / (admitted('root') + admitted('continuation'));
  if (!(share <= MOST_ROOTS)) missed.push(`${(share * 100).toFixed(0)} % of the calls of the bench continued nothing`);
}

async function withProxy(
  load: LoadProcess,
  ledgerUrl: string,
  measure: (server: BenchProcess) => Promise<void>,
): Promise<void> {
  const server = await proxy(load.workerUrl, ledgerUrl);
  try {
    await measure(server);
  } finally {
    await server.stop();
  }
}

async function measureMemory(load: LoadProcess, server: BenchProcess, missed: string[]): Promise<void> {
  const run = (calls: number) => load.run({ ...SHAPE, url: server.url, mode: 'chat', captured: true, calls });
  await run(10_000);
  const half = await server.memory();
  await run(10_000);
  const full = await server.memory();
  const growth = (full - half) / half;
  const mib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;
  console.log(
    `memory after 20,000 calls: ${mib(full)} (wanted: below 250 MB), ${(growth * 100).toFixed(1)} % over the last 10,000 (wanted: below 5 %)`,
  );
  if (full > 250e6) missed.push(`memory ${mib(full)}`);
  if (growth > 0.05) missed.push(`memory growth ${(growth * 100).toFixed(1)} %`);
}

function passThrough(workerUrl: string): Promise<BenchProcess> {
  const file = fileURLToPath(new URL('./pass-through.ts', import.meta.url));
  return startServerProcess([file, workerUrl], { NODE_ENV: 'production' }, (line) => urlOf(line, 'url'));
}

function proxy(workerUrl: string, ledgerUrl: string): Promise<BenchProcess> {
  const file = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));
  const flags = ['--server-port', '0', '--workers', workerUrl, '--ledger-url', ledgerUrl, '--log-level', 'info'];
  // As `npm start` and the image start it.
  const malloc = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '1048576' };
  const env = { NODE_ENV: 'production', ...malloc, GYM_PROXY_CONTROL_TOKEN: 'bench-control-token-0' };
  return startServerProcess(['--max-semi-space-size=8', file, 'serve', ...flags], env, (line) => urlOf(line, 'url'));
}

function urlOf(line: string, name: string): string | null {
  try {
    return ((JSON.parse(line) as Record<string, unknown>)[name] as string | undefined) ?? null;
  } catch {
    return null;
  }
}
