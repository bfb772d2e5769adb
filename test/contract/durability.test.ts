import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { freePort } from '../support/ports.ts';
import { findRedis } from '../support/redis-binary.ts';
import { DURABLE } from '../support/redis-server.ts';
import { findStrace } from '../support/strace-binary.ts';
import { addCall, newAttempt } from './ledger/builders.ts';
import { openRedisLedger } from './ledger/redis-store.ts';

/**
 * A killed process leaves the page cache behind, so kills do not show that anything is on disk. The system calls do: each answer comes after a sync of what
 * it stands for.
 */
describe('what is answered has been synced', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gym-proxy-durability-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** Runs a program under strace; `trace` gives the lines, once it has ended. Calls that others interrupted count where they end. */
  async function startTraced(command: readonly string[], environment: Record<string, string> = {}) {
    const strace = await findStrace();
    const output = join(folder, 'trace');
    const options = ['-f', '-y', '-s', '300', '-e', 'trace=read,write,writev,fsync,fdatasync', '-o', output];
    const env = { ...process.env, ...environment, ...strace.env };
    const child = spawn(strace.path, [...options, ...command], { stdio: ['ignore', 'ignore', 'inherit'], env });
    const ended = once(child, 'exit');
    return {
      async trace(): Promise<string[]> {
        await ended;
        return (await readFile(output, 'utf8')).split('\n');
      },
    };
  }

  const isSyncOf = (file: string) => {
    const unfinished = new Set<string>();
    /** Whether this line is the end of a sync of that file that went well. */
    return (line: string): boolean => {
      const thread = line.split(' ')[0]!;
      if (/f(data)?sync\(/.test(line) && line.includes(file)) {
        if (line.includes('<unfinished')) unfinished.add(thread);
        return / = 0$/.test(line);
      }
      return /<\.\.\. f(data)?sync resumed/.test(line) && unfinished.delete(thread) && / = 0$/.test(line);
    };
  };

  it('SQLite: each admission and each commit', async () => {
    const file = join(folder, 'ledger.db');
    const writer = join(import.meta.dirname, 'ledger', 'child-writer.ts');
    const traced = await startTraced([process.execPath, writer, `sqlite:${file}`, 'a', '1', '20']);
    const isSync = isSyncOf('ledger.db-wal');
    const steps: string[] = [];
    let syncs = 0;
    for (const line of await traced.trace()) {
      if (isSync(line)) syncs += 1;
      const told = /write\(1<.*>, "(started|admitted|asked|committed)/.exec(line)?.[1];
      if (told === undefined) continue;
      steps.push(`${told} after ${syncs === 0 ? 'no' : 'a'} sync`);
      syncs = 0;
    }
    const round = ['admitted after a sync', 'asked after no sync', 'committed after a sync'];
    assert.deepEqual(steps.slice(1), Array.from({ length: 20 }, () => round).flat());
  });

  it('Redis with appendfsync always: each commit', async () => {
    const redis = await findRedis();
    const port = await freePort();
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...DURABLE];
    const traced = await startTraced([redis.server, ...args], redis.env);
    const ledger = await openRedisLedger(`redis://127.0.0.1:${port}`, { operationTimeoutMs: 20_000, leaseS: 60 });
    const attempt = newAttempt();
    for (let call = 0; call < 20; call += 1) await addCall(ledger, attempt, ['task', `answer ${call}`]);
    await ledger.stop();
    const client = new Redis(port, { lazyConnect: true, retryStrategy: null });
    await client.connect();
    // It ends without an answer.
    await client.call('SHUTDOWN', 'NOSAVE').catch(() => undefined);
    client.disconnect();

    const isSync = isSyncOf('.aof');
    let syncs = 0;
    const commits: string[] = [];
    for (const line of await traced.trace()) {
      if (isSync(line)) syncs += 1;
      if (/read\(\d+<(TCP|socket)/.test(line) && line.includes('evalsha')) syncs = 0;
      if (/writev?\(\d+<(TCP|socket)/.test(line) && line.includes('committed'))
        commits.push(syncs === 0 ? 'unsynced' : 'synced');
    }
    assert.deepEqual(
      commits,
      Array.from({ length: 20 }, () => 'synced'),
    );
  });
});
