import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { NODE_FOLDER } from './packages.ts';

/** A program that came to its end. */
export interface ChildResult {
  /** Exit code, or null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

export interface ChildOptions {
  /** The working folder. */
  readonly cwd: string;
  /** The home folder: everything that the program keeps between runs. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** After this the program and all that it started are killed. Default 60 s. */
  readonly timeoutMs?: number;
  readonly stdin?: string;
  /** The input stays open until the output matches. Default: it ends at once. */
  readonly endInputAt?: RegExp;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * The environment of an agent: nothing of ours but the PATH. What wants to leave the machine is sent to a port where nobody listens, so that
 * it fails at once instead of depending on a network.
 */
export function cleanEnvironment(home: string): Record<string, string> {
  const nowhere = 'http://127.0.0.1:9';
  return {
    PATH: `${NODE_FOLDER}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    XDG_CONFIG_HOME: `${home}/.config`,
    XDG_DATA_HOME: `${home}/.local/share`,
    XDG_STATE_HOME: `${home}/.local/state`,
    XDG_CACHE_HOME: `${home}/.cache`,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TERM: 'dumb',
    SHELL: '/bin/bash',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    http_proxy: nowhere,
    https_proxy: nowhere,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  };
}

/** Runs a program in the clean environment until it ends or its time is up. */
export async function runChild(program: string, args: readonly string[], options: ChildOptions): Promise<ChildResult> {
  // Some unpack parts of themselves there at every start, and leave them.
  const temporary = join(options.home, 'tmp');
  await mkdir(temporary, { recursive: true });
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...cleanEnvironment(options.home), TMPDIR: temporary, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // a process group of its own, so that what it started can be ended with it
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
    if (options.endInputAt?.test(output.stdout)) child.stdin.end();
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  child.stdin.on('error', () => undefined); // it may end without having read its input
  child.stdin.write(options.stdin ?? '');
  if (options.endInputAt === undefined) child.stdin.end();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup(child.pid);
  }, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output, timedOut };
  } finally {
    clearTimeout(timer);
    endGroup(child.pid);
  }
}

/** Waits for what has to happen while a program runs, then for its end. Rejects with what it wrote where it ended before that happened. */
export async function runBeside(run: Promise<ChildResult>, beside: Promise<void>): Promise<ChildResult> {
  const tooEarly = run.then(({ code, timedOut, stdout, stderr }) => {
    throw new Error(`the agent ended too early (${timedOut ? 'out of time' : `code ${code}`}):\n${stdout}\n${stderr}`);
  });
  await Promise.race([beside, tooEarly]);
  return run;
}

/** Ends a process group that this process started. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // nobody is left in it
  }
}
