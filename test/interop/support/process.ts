import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BYTECODE_FOLDER } from './python-environment.ts';

/** A program that said that it is ready. */
export interface RunningProcess {
  /** What {@link startProcess} was waiting for. */
  readonly ready: RegExpExecArray;
  /** Ends it in order, where it listens to its input; else by SIGTERM. */
  stop(): Promise<void>;
  /** Ends it at once, in the middle of whatever it does. */
  kill9(): Promise<void>;
}

/** Our own environment, in which a Python keeps what it compiled, away from the sources. */
export function pythonProcessEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPYCACHEPREFIX: BYTECODE_FOLDER, PYTHONDONTWRITEBYTECODE: '', PYTHONUNBUFFERED: '1' };
}

/** Starts a program and waits for a line of its output that matches. Rejects with all it said if it ends before. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: {
    readonly ready: RegExp;
    readonly env?: Readonly<Record<string, string>>;
    readonly endsWithInput?: boolean;
  },
): Promise<RunningProcess> {
  const env = { ...pythonProcessEnvironment(), ...options.env };
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
  const ready = await firstMatch(child, options.ready);
  return {
    ready,
    stop: () => end(child, () => (options.endsWithInput ? child.stdin?.end() : child.kill('SIGTERM'))),
    kill9: () => end(child, () => child.kill('SIGKILL')),
  };
}

function firstMatch(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let said = '';
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        said += `${line}\n`;
        const match = pattern.exec(line);
        if (match !== null) resolve(match);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the program ended with ${code}:\n${said}`)));
  });
}

async function end(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  ask();
  await ended;
}
