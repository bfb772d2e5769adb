import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Boundary, Ledger, RecordIndex } from '../src/ledger/ledger.ts';
import { openLedger } from '../src/ledger/open-ledger.ts';
import { DURABLE, type RedisServer, startRedis } from '../test/support/redis-server.ts';

/**
 * The ledgers alone, without HTTP: `node bench/ledger.ts`. Prints figures, judges nothing.
 *
 * A call is admit + commit + delivered with texts of usual size; clients work through rollouts of 20 calls, one call at a time each.
 */
const CLIENTS = 16;
const CALLS = 8000;
const ROLLOUT = 20;
const LONG = 10_000;
const CHAIN = 2000;
const PAIRS = 60;
const RENDER = hex('render');
const FILLER = 'x'.repeat(400);

function hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

interface Turn {
  readonly callId: string;
  readonly digest: string;
  readonly items: number;
}

async function call(
  ledger: Ledger,
  attempt: string,
  parent: Turn | null,
): Promise<Turn & { admitMs: number; commitMs: number }> {
  const callId = randomUUID().replaceAll('-', '');
  const boundary: Boundary | null = parent && {
    itemCount: parent.items,
    sourceDigest: parent.digest,
    emptyToolContentDigest: parent.digest,
    renderDigest: RENDER,
    echoedIds: [],
    reasoning: null,
  };
  const start = performance.now();
  const outcome = await ledger.admit({
    attempt,
    callId,
    replica: 'bench',
    admittedAtS: Date.now() / 1000,
    boundary,
    namedParent: undefined,
    onAmbiguous: 'refuse',
    onUnmatched: 'root',
    afterFailure: 'serve',
    maxCalls: 1_000_000,
    resend: { requestDigest: hex(callId), idempotencyKey: null },
  });
  const admitted = performance.now();
  if (outcome.kind !== 'admitted' || (outcome.candidate?.callId ?? null) !== (parent?.callId ?? null))
    throw new Error('another parent');
  const digest = hex(`turn ${callId}`);
  const index: RecordIndex = {
    parentCallId: parent?.callId ?? null,
    responseId: `chatcmpl-${callId}`,
    cumLen: 1000,
    chainHash: digest,
    cumulativeHash: digest,
    stagingKey: `${attempt}/${callId}`,
    itemCount: (parent?.items ?? 0) + 2,
    sourceDigest: digest,
    emptyToolContentDigest: digest,
    renderDigest: RENDER,
    outputIds: [],
    reasoning: null,
  };
  const recordJson = JSON.stringify({ ...index, a: digest, b: digest, c: digest, d: digest, text: FILLER });
  const replyJson = JSON.stringify({ id: callId, text: FILLER + FILLER });
  const sketchJson = JSON.stringify([callId, FILLER]);
  const whyRootJson = parent ? null : '{"cause":"first_call"}';
  const committed = await ledger.commit({ attempt, callId, recordJson, index, whyRootJson, sketchJson, replyJson });
  if (committed !== 'committed') throw new Error(committed);
  const commitMs = performance.now() - admitted;
  await ledger.delivered(attempt, callId);
  return { callId, digest, items: index.itemCount, admitMs: admitted - start, commitMs };
}

/** Calls per second with many clients, and the processor time of this process per call. */
async function throughput(ledger: Ledger): Promise<string> {
  let left = CALLS;
  const client = async () => {
    while (left > 0) {
      const attempt = `bench-${randomUUID()}`;
      let turn: Turn | null = null;
      for (let at = 0; at < ROLLOUT; at += 1, left -= 1) turn = await call(ledger, attempt, turn);
    }
  };
  const cpu = process.cpuUsage();
  const start = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return `${(CALLS / seconds).toFixed(0)} calls/s (admit + commit + delivered), ${CLIENTS} in flight, ${((user + system) / CALLS).toFixed(0)} µs of our processor time per call`;
}

/** A rollout of so many calls, its last call first. */
async function rollout(ledger: Ledger, attempt: string, calls: number): Promise<Awaited<ReturnType<typeof call>>> {
  let turn = await call(ledger, attempt, null);
  for (let at = 1; at < calls; at += 1) turn = await call(ledger, attempt, turn);
  return turn;
}

const median = (of: readonly number[]) => [...of].sort((a, b) => a - b)[of.length >> 1]!;
const ratio = (late: number, early: number) =>
  `${early.toFixed(3)} ms -> ${late.toFixed(3)} ms (x ${(late / early).toFixed(2)})`;

/** The tenth call of a rollout in a fresh attempt and in one that has LONG calls, by turns, so that what else the machine does counts for both. */
async function growth(ledger: Ledger): Promise<string> {
  const attempt = `long-${randomUUID()}`;
  let left = LONG / ROLLOUT;
  const client = async () => {
    while (left-- > 0) await rollout(ledger, attempt, ROLLOUT);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const [early, late]: Awaited<ReturnType<typeof call>>[][] = [[], []];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    early!.push(await rollout(ledger, `fresh-${randomUUID()}`, 10));
    late!.push(await rollout(ledger, attempt, 10));
  }
  const figures = (['admitMs', 'commitMs'] as const).map(
    (key) =>
      `${key.slice(0, -2)} ${ratio(median(late!.map((one) => one[key])), median(early!.map((one) => one[key])))}`,
  );
  const start = performance.now();
  let records = 0;
  for (let page = 1; page > 0; records += page) page = (await ledger.records(attempt, records, 250)).length;
  return `${figures.join(', ')}; ${records} records read in ${(performance.now() - start).toFixed(0)} ms`;
}

/** One chain: each call brings its whole staging chain along. */
async function chain(ledger: Ledger): Promise<string> {
  const attempt = `chain-${randomUUID()}`;
  const done = [await call(ledger, attempt, null)];
  for (let at = 1; at < CHAIN; at += 1) done.push(await call(ledger, attempt, done.at(-1)!));
  const admits = done.map((one) => one.admitMs);
  const commits = done.map((one) => one.commitMs);
  const early = (of: number[]) => median(of.slice(10, 210));
  const late = (of: number[]) => median(of.slice(-200));
  return `admit ${ratio(late(admits), early(admits))}, commit ${ratio(late(commits), early(commits))}`;
}

async function measure(name: string, url: string, bytes: () => Promise<number>): Promise<void> {
  const ledger = await openLedger({
    url,
    replica: 'bench',
    now: () => Date.now() / 1000,
    replies: { keepBytes: 64 * 1024 * 1024, keepS: 900 },
    leaseS: 15,
    abandonedAfterS: null,
  });
  await ledger.start();
  await call(ledger, 'warm-up', null);
  console.log(`${name}: ${await throughput(ledger)}`);
  const before = await bytes();
  console.log(`${name}: the 10th call of a fresh attempt and of one with ${LONG} calls: ${await growth(ledger)}`);
  const between = await bytes();
  console.log(`${name}: the first calls of a chain and those after ${CHAIN}: ${await chain(ledger)}`);
  const after = await bytes();
  const perCall = [(between - before) / (LONG + 20 * PAIRS), (after - between) / CHAIN].map((all) => all.toFixed(0));
  console.log(
    `${name}: ${perCall.join(' and ')} bytes stored per call in these two, of which 2000 are record and sketch`,
  );
  await ledger.stop();
}

const folder = await mkdtemp(join(tmpdir(), 'gym-proxy-bench-'));
const file = join(folder, 'ledger.db');
await measure('SQLite', `sqlite:${file}`, async () => (await stat(file)).size + (await stat(`${file}-wal`)).size);
await rm(folder, { recursive: true });

async function measureRedis(name: string, args: string[]): Promise<void> {
  const server: RedisServer = await startRedis({ args });
  const client = new Redis(server.port, { lazyConnect: true });
  await client.connect();
  await measure(name, server.url, async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]));
  client.disconnect();
  await server.stop();
}
await measureRedis('Redis, appendfsync always', DURABLE);
await measureRedis('Redis, no persistence', []);
