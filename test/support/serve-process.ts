import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { configKeys } from '../../config/describe.ts';
import { CONTROL_TOKEN, type Reply, send } from './stack.ts';

/** `gym-model-proxy serve` in a process of its own: for what a whole process does (signals, kills, limits, its log). */
export interface ServeProcess {
  readonly pid: number;
  /** The agents' port and, being the same, the trainer's. */
  readonly url: string;
  /** The lines of its log so far, parsed. */
  readonly log: readonly LogLine[];
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  control(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Reply>;
  kill(signal: NodeJS.Signals): void;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [name: string]: unknown;
}

export interface ServeOptions {
  /** Configuration by `section.key`, as text. */
  readonly config: Readonly<Record<string, string>>;
  /** Runs the process under another program: `strace ...`, `setpriv ...`. */
  readonly under?: readonly string[];
}

/** A process that ended before it listened. */
export class ServeFailed extends Error {
  readonly code: number | NodeJS.Signals;
  readonly output: string;
  constructor(code: number | NodeJS.Signals, output: string) {
    super(`serve ended with ${code}: ${output}`);
    this.code = code;
    this.output = output;
  }
}

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts the service on a free port; resolves once it listens. Rejects with {@link ServeFailed} if it ends before. */
export async function startServe(options: ServeOptions): Promise<ServeProcess> {
  const config = { 'server.port': '0', 'control.token': CONTROL_TOKEN, 'log.level': 'info', ...options.config };
  const flags = configKeys().flatMap(({ path, flag }) => {
    const value = config[path as keyof typeof config];
    return value === undefined ? [] : [flag, value];
  });
  const [program, ...args] = [...(options.under ?? []), process.execPath, MAIN, 'serve', ...flags];
  const child = spawn(program as string, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const log: LogLine[] = [];
  let output = '';
  let rest = '';
  const exited = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) {
        if (!line.startsWith('{')) continue;
        const entry = JSON.parse(line) as LogLine;
        log.push(entry);
        if (typeof entry.url === 'string') resolve(entry.url);
      }
    });
    exited.then((code) => reject(new ServeFailed(code, output)), reject);
  });
  return {
    pid: child.pid as number,
    url,
    log,
    exited,
    post: (path, body, headers) => send('POST', url + path, body, headers),
    control: (method, path, body) => send(method, url + path, body, { authorization: `Bearer ${CONTROL_TOKEN}` }),
    kill: (signal) => child.kill(signal),
  };
}

/** Asks again and again until `holds` is satisfied with the answer; throws when it was not in 30 s. */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  holds: (answer: T) => boolean,
  withinMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`did not come to pass; the last answer: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
