/**
 * From ledgers and staged records to training rows: 10,000 calls of 2,000 tokens, 500 rollouts in groups of 10, in under 20 s on one core, and the same
 * memory as for a tenth of them. `node bench/rows.ts [--quick]` runs it alone and exits non-zero where that is missed.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecordV3 } from '../src/protocol/wire/ledger.ts';
import { DirectCapture } from '../src/trainer/index.ts';
import { runRows } from '../src/trainer/rows-command.ts';

const CALLS_PER_ROLLOUT = 20;
const TOKENS_PER_CALL = 2000;
const ROLLOUTS_PER_GROUP = 10;
const LIMIT_S = 20;
/** A run of ten times as many rollouts may hold so much more. */
const MEMORY_RATIO = 1.25;
/** Without limits the collector takes its time, and peaks say more about it than about the run. Rows of all rollouts would not fit by far. */
const HEAP_LIMITS = ['--max-old-space-size=64', '--max-semi-space-size=16'];

interface Measured {
  readonly wallS: number;
  /** User and system time of all threads: what one core would have needed. */
  readonly cpuS: number;
  readonly peakMiB: number;
  readonly exitCode: number;
}

/** Runs the bench; gives a line per figure that was missed. */
export async function benchRows(quick: boolean): Promise<string[]> {
  const rollouts = quick ? 50 : 500;
  const folder = mkdtempSync(join(tmpdir(), 'bench-rows-'));
  try {
    const few = measure(makeRollouts(folder, 'few', rollouts / 10));
    const many = measure(makeRollouts(folder, 'many', rollouts));
    const calls = rollouts * CALLS_PER_ROLLOUT;
    // Starting takes the same time for few rollouts as for many.
    const limitS = (LIMIT_S * rollouts) / 500 + (quick ? 1 : 0);
    console.log(`rows: ${calls} calls of ${TOKENS_PER_CALL} tokens in ${rollouts} rollouts`);
    console.log(`  ${many.cpuS.toFixed(1)} s of one core (limit ${limitS}), ${many.wallS.toFixed(1)} s on the clock`);
    console.log(`  peak memory ${many.peakMiB.toFixed(0)} MiB, ${few.peakMiB.toFixed(0)} MiB for a tenth of it`);
    const missed: string[] = [];
    if (few.exitCode !== 0 || many.exitCode !== 0) missed.push('rows: the command failed');
    if (many.cpuS > limitS) missed.push(`rows: ${many.cpuS.toFixed(1)} s, not under ${limitS} s`);
    if (many.peakMiB > few.peakMiB * MEMORY_RATIO)
      missed.push(`rows: memory grew from ${few.peakMiB} to ${many.peakMiB} MiB`);
    return missed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the rows command over a group file in a process of its own, on one core where that can be had. */
function measure(groupFile: string): Measured {
  const pin = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;
  const args = [...HEAP_LIMITS, import.meta.filename, '--measure', groupFile];
  const [command, all] = pin ? ['taskset', ['-c', '0', process.execPath, ...args]] : [process.execPath, args];
  const child = spawnSync(command as string, all as string[], { encoding: 'utf8', maxBuffer: 1 << 20 });
  if (child.status !== 0) throw new Error(`the measured process failed:\n${child.stderr}`);
  return JSON.parse(child.stdout) as Measured;
}

async function measureHere(groupFile: string): Promise<Measured> {
  const started = performance.now();
  const cpu = process.cpuUsage();
  const exitCode = await runRows(
    { group: groupFile, staged: join(groupFile, '..', 'staged.jsonl'), out: join(groupFile, '..', 'rows.jsonl') },
    { print: () => Promise.resolve(), warn: (text) => console.error(text), directory: process.cwd() },
  );
  const used = process.cpuUsage(cpu);
  return {
    wallS: (performance.now() - started) / 1000,
    cpuS: (used.user + used.system) / 1e6,
    peakMiB: process.resourceUsage().maxRSS / 1024,
    exitCode,
  };
}

/** Writes ledgers, results, staged records and a group file. Every rollout rewrites its history once, half way. */
function makeRollouts(parent: string, name: string, rollouts: number): string {
  const folder = mkdtempSync(join(parent, `${name}-`));
  const staged = openSync(join(folder, 'staged.jsonl'), 'w');
  const random = generator(rollouts);
  const members: object[] = [];
  for (let at = 0; at < rollouts; at++) {
    const attempt = `group${Math.floor(at / ROLLOUTS_PER_GROUP)}_g${at % ROLLOUTS_PER_GROUP}`;
    const capture = new DirectCapture(attempt);
    const put = capture.staged.put.bind(capture.staged);
    capture.staged.put = (key, text) => {
      writeSync(staged, `${text}\n`);
      put(key, '');
    };
    const output = makeCalls(capture, random);
    writeFileSync(join(folder, `${attempt}.ledger.json`), ledgerJson(capture));
    writeFileSync(
      join(folder, `${attempt}.result.json`),
      JSON.stringify({ response: { id: 'h', output }, reward: at % 2 }),
    );
    members.push({ ledger: `${attempt}.ledger.json`, result: `${attempt}.result.json` });
  }
  closeSync(staged);
  const groups = Array.from({ length: Math.ceil(rollouts / ROLLOUTS_PER_GROUP) }, (_, group) => ({
    rollouts: members.slice(group * ROLLOUTS_PER_GROUP, (group + 1) * ROLLOUTS_PER_GROUP),
  }));
  const path = join(folder, 'groups.json');
  writeFileSync(path, JSON.stringify({ groups }));
  return path;
}

function makeCalls(capture: DirectCapture, random: () => number): unknown[] {
  const output: unknown[] = [];
  let parent: CallRecordV3 | null = null;
  for (let at = 0; at < CALLS_PER_ROLLOUT; at++) {
    const half = TOKENS_PER_CALL / 2;
    const answer = [{ type: 'message', role: 'assistant', id: `msg_${at}`, content: `answer ${at}` }];
    parent = capture.call({
      parent: at === CALLS_PER_ROLLOUT / 2 ? null : parent,
      newPromptTokens: Array.from({ length: half }, () => Math.floor(random() * 130_000)),
      generatedTokens: Array.from({ length: half }, () => Math.floor(random() * 130_000)),
      logprobs: Array.from({ length: half }, () => Math.fround(-3 * random())),
      weightVersion: 1,
      output: answer,
    });
    output.push(...answer);
  }
  return output;
}

function ledgerJson(capture: DirectCapture): string {
  const { attempt, records, attemptedCallIds } = capture.ledger();
  const lists = { records, failures: [], attempted_call_ids: attemptedCallIds, pending_call_ids: [] };
  const manifest = { schema_version: 3, capture_key: attempt, ...lists };
  return JSON.stringify({ attempt, state: 'closed', complete: true, manifest, refused: [], why_root: {} });
}

/** The same numbers in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

if (import.meta.main) {
  const at = process.argv.indexOf('--measure');
  if (at >= 0) {
    console.log(JSON.stringify(await measureHere(process.argv[at + 1] as string)));
  } else {
    const missed = await benchRows(process.argv.includes('--quick'));
    for (const line of missed) console.error(`missed: ${line}`);
    process.exitCode = missed.length > 0 ? 1 : 0;
  }
}
