import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { type RunningReferenceWorker, startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { freePort } from '../support/ports.ts';
import { findRedis } from '../support/redis-binary.ts';
import { DURABLE } from '../support/redis-server.ts';
import { eventually, startServe } from '../support/serve-process.ts';
import { findStrace } from '../support/strace-binary.ts';

/**
 * A kill leaves the page cache behind, so the chaos runs say nothing about disks. The system calls of whole processes do: a sync lies between the request and
 * the bytes that go to the worker (the intent), and between the worker's answer and the bytes that go to the agent (the record).
 */

const CALLS = 5;

describe('what has been synced, by system calls', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gym-proxy-syncs-'));
  let worker: RunningReferenceWorker;
  before(async () => {
    worker = await startReferenceWorker();
  });
  after(async () => {
    await worker.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Arguments of strace that write what a program does to sockets and disks to `file`, each line with its time. */
  async function traceTo(file: string): Promise<{ command: string[]; env: Record<string, string> }> {
    const { path, env } = await findStrace();
    const calls = 'trace=read,readv,write,writev,sendmsg,sendto,fsync,fdatasync';
    return { command: [path, '-f', '-ttt', '-y', '-s', '400', '-e', calls, '-o', file], env };
  }

  /** Runs calls through a traced service; its steps in order. */
  async function traceService(ledgerUrl: string): Promise<Step[]> {
    const file = join(folder, 'service.trace');
    const { command, env } = await traceTo(file);
    const under = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command];
    const proxy = await startServe({
      config: { workers: worker.url, 'ledger.url': ledgerUrl, 'ledger.lease_s': '600' },
      under: ['env', ...under],
    });
    for (let call = 0; call < CALLS; call += 1) {
      const body = { model: 'policy', stream: call % 2 === 1, messages: [{ role: 'user', content: `task ${call}` }] };
      const reply = await proxy.post('/ng-rollout/traced/v1/chat/completions', body);
      assert.equal(reply.status, 200, reply.text);
      // What is written after the reply does not belong to the next call.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // Ends strace and with it the service.
    const [pid] = readFileSync(`/proc/${proxy.pid}/task/${proxy.pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(pid), 'SIGKILL');
    await proxy.exited;
    return stepsOf(readFileSync(file, 'utf8'), SERVICE_STEPS);
  }

  test('SQLite: the intent before the worker hears of it, the record before the agent does', async () => {
    const steps = await traceService(`sqlite:${join(folder, 'ledger.db')}`);
    assert.deepEqual(
      orderOf(steps),
      Array.from({ length: CALLS }, () => ['request', 'sync', 'asks worker', 'worker answers', 'sync', 'reply']).flat(),
    );
  });

  test('Redis with appendfsync always: the same, in the server', async () => {
    const redis = await findRedis();
    const port = await freePort();
    const file = join(folder, 'redis.trace');
    const { command, env } = await traceTo(file);
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...DURABLE];
    const [program, ...options] = [...command, redis.server, ...args];
    const server = spawn(program as string, options, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...redis.env, ...env },
    });
    const ended = once(server, 'exit');
    const client = new Redis(port, { lazyConnect: true, retryStrategy: null, enableOfflineQueue: false });
    client.on('error', () => undefined);
    await eventually(
      () =>
        client.connect().then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    const service = await traceService(`redis://127.0.0.1:${port}`);
    // It ends without an answer.
    await client.call('SHUTDOWN', 'NOSAVE').catch(() => undefined);
    client.disconnect();
    await ended;
    const syncs = stepsOf(readFileSync(file, 'utf8'), REDIS_STEPS);
    // Both traces bear the same clock.
    const both = [...service.filter(({ name }) => name !== 'sync'), ...syncs].sort((a, b) => a.atS - b.atS);
    assert.deepEqual(
      orderOf(both),
      Array.from({ length: CALLS }, () => ['request', 'sync', 'asks worker', 'worker answers', 'sync', 'reply']).flat(),
    );
  });
});

interface Step {
  readonly name: string;
  readonly atS: number;
}

type Steps = readonly (readonly [name: string, pattern: RegExp])[];

const SYNC = (file: string): Steps[number] => ['sync', new RegExp(`f(data)?sync\\(\\d+<[^>]*${file}[^>]*>\\)`)];
/** `-y` prints what a descriptor is; numbers of calls that other threads interrupt are put together by `stepsOf`. */
const SERVICE_STEPS: Steps = [
  ['request', /^readv?\(\d+<(?:TCP|socket).*"POST \/ng-rollout\/traced/],
  ['asks worker', /^(?:writev?|sendmsg|sendto)\(\d+<(?:TCP|socket).*"POST \/v1\/chat\/completions/],
  ['worker answers', /^readv?\(\d+<(?:TCP|socket).*"HTTP\/1\.1 200/],
  ['reply', /^(?:writev?|sendmsg|sendto)\(\d+<(?:TCP|socket).*"HTTP\/1\.1 200/],
  SYNC('ledger\\.db-wal'),
];
const REDIS_STEPS: Steps = [SYNC('appendonly.*\\.aof')];

/** The steps of a trace, each at the time of its end (that of a write: its begin, since bytes may be seen from then on). */
function stepsOf(trace: string, steps: Steps): Step[] {
  const unfinished = new Map<string, { text: string; atS: number }>();
  return trace.split('\n').flatMap((line): Step[] => {
    const [, thread, time, rest] = /^(\d+) +([\d.]+) (.*)$/.exec(line) ?? [];
    if (thread === undefined || rest === undefined) return [];
    const atS = Number(time);
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(thread, { text: rest.replace(/ ?<unfinished \.\.\.>$/, ''), atS });
      return [];
    }
    const begun = rest.startsWith('<... ') ? unfinished.get(thread) : undefined;
    if (begun !== undefined) unfinished.delete(thread);
    const text = begun === undefined ? rest : begun.text + rest.replace(/^<\.\.\. \w+ resumed>/, '');
    if (/ = -1 /.test(text)) return [];
    const name = steps.find(([, pattern]) => pattern.test(text))?.[0];
    if (name === undefined) return [];
    const isWrite = /^(write|send)/.test(text);
    return [{ name, atS: isWrite ? (begun?.atS ?? atS) : atS }];
  });
}

/** Names of the steps from the first request to the last reply; syncs that follow each other, and those after a reply, are left out. */
function orderOf(steps: readonly Step[]): string[] {
  const sorted = [...steps].sort((a, b) => a.atS - b.atS).map(({ name }) => name);
  const from = sorted.indexOf('request');
  const order: string[] = [];
  for (const name of sorted.slice(from)) {
    const last = order.at(-1);
    if (name === 'sync' && (last === 'sync' || last === 'reply' || last === 'asks worker')) continue;
    order.push(name);
  }
  return order;
}
