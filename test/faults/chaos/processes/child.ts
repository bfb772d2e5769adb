import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A process of the harness: an entry file of ours with its settings, talking over IPC. It ends when this process ends. */
export interface Child {
  readonly pid: number;
  /** Resolves with the exit code, or the signal. */
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly isRunning: () => boolean;
  kill(signal: NodeJS.Signals): void;
}

export interface ChildOptions {
  readonly entry: URL;
  readonly settings: object;
  /** Where its output goes. */
  readonly outputFile: string;
  readonly onMessage: (message: unknown) => void;
}

/** Starts the process; resolves once it has sent `{ready: true}`. Rejects if it ends before. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const output = openSync(options.outputFile, 'a');
  const child = fork(fileURLToPath(options.entry), [JSON.stringify(options.settings)], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'gym-proxy-chaos-code') },
    execArgv: [],
    stdio: ['ignore', output, output, 'ipc'],
  });
  running.add(child);
  const exited = once(child, 'exit').then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const ready = new Promise<void>((resolve) => {
    child.on('message', (message) => {
      if ((message as { ready?: boolean }).ready === true) resolve();
      else options.onMessage(message);
    });
  });
  const early = await Promise.race([ready, exited]);
  if (early !== undefined) throw new Error(`the process ended before it was ready (${early}): ${options.outputFile}`);
  return {
    pid: child.pid as number,
    exited,
    isRunning: () => running.has(child),
    kill: (signal) => child.kill(signal),
  };
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
