import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { LoadOptions, LoadResult } from './load.ts';

/** Processes of a bench, each on its own core where the machine has two. */

const PINS = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;
export const PROXY_CORE = 0;
export const OTHER_CORE = 1;

function pinned(core: number, command: string, args: readonly string[]): [string, string[]] {
  return PINS ? ['taskset', ['-c', String(core), command, ...args]] : [command, [...args]];
}

export function isPinned(): boolean {
  return PINS;
}

export interface BenchProcess {
  readonly url: string;
  readonly pid: number;
  /** Resident memory in bytes. */
  memory(): Promise<number>;
  /** CPU time that all its threads have used, in seconds. */
  cpuS(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a server of ours on the proxy's core; `readUrl` finds its address in a line of its output. */
export async function startServerProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  readUrl: (line: string) => string | null,
): Promise<BenchProcess> {
  const [command, all] = pinned(PROXY_CORE, process.execPath, args);
  const child = spawn(command, all, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await firstUrl(child, readUrl);
  child.stdout?.resume();
  return {
    url,
    pid: child.pid as number,
    memory: () => residentBytes(child.pid as number),
    cpuS: () => cpuSeconds(child.pid as number),
    stop: () => stop(child),
  };
}

async function firstUrl(child: ChildProcess, readUrl: (line: string) => string | null): Promise<string> {
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      for (const line of text.split('\n')) {
        const url = readUrl(line);
        if (url !== null) return resolve(url);
      }
    });
    child.once('exit', (code) => reject(new Error(`a server ended with ${code}:\n${text}`)));
  });
}

export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

const TICKS_PER_S = 100;

async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name stands in parentheses and may hold anything; utime and stime are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

export function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

export interface LoadProcess {
  readonly workerUrl: string;
  run(options: LoadOptions): Promise<LoadResult>;
  stop(): Promise<void>;
}

/** Starts instant worker and load on the other core. */
export async function startLoadProcess(): Promise<LoadProcess> {
  const file = fileURLToPath(new URL('./load-process.ts', import.meta.url));
  const child = fork(
    file,
    [],
    PINS ? { execPath: 'taskset', execArgv: ['-c', String(OTHER_CORE), process.execPath] } : {},
  );
  const next = () =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the load process ended with ${code}`));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message as Record<string, unknown>);
      });
    });
  const { workerUrl } = await next();
  return {
    workerUrl: workerUrl as string,
    async run(options) {
      const answer = next();
      child.send(options);
      const { result, error } = await answer;
      if (error !== undefined) throw new Error(error as string);
      return result as LoadResult;
    },
    stop: () => stop(child),
  };
}

/** Starts redis-server on the other core, with the durability that is asked for. */
export function pinToOtherCore(pid: number): void {
  if (PINS) spawnSync('taskset', ['-cp', String(OTHER_CORE), String(pid)]);
}
