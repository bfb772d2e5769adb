import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanEnvironment } from '../harness/child.ts';
import type { Conversation } from '../sdk/conversation.ts';
import { installPython } from './environment.ts';

/** How driver.py starts a conversation. */
export interface PythonOptions {
  readonly dialect: 'responses' | 'chat' | 'messages';
  readonly stream: boolean;
  /** `http://host:port/ng-rollout/<attempt>`. */
  readonly base: string;
  readonly max_retries?: number;
  /** The SDK's own means of editing the history keeps only the newest tool output. */
  readonly edits?: true;
  /** There is a tool that answers with a picture. */
  readonly photo?: true;
  /** The model must call a tool first (OpenAI Agents SDK). */
  readonly must_call?: true;
}

interface PythonFailure {
  readonly types: readonly string[];
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string;
  readonly trace: string;
}

/** An exception of the SDK. */
export class PythonError extends Error {
  /** Names of its class and of those that it derives from. */
  readonly types: readonly string[];
  /** Its `status_code` and `code`, where it has them. */
  readonly status: number | null;
  readonly code: string | null;

  constructor({ types, status, code, message, trace }: PythonFailure) {
    super(`${types[0]}: ${message}\n${trace}`);
    this.types = types;
    this.status = status;
    this.code = code;
  }
}

/** One Python SDK in a process of its own. */
export interface SdkProcess {
  /** Exact version of a package. */
  version(name: string): string;
  /** A conversation; its steps reject with a {@link PythonError}, or when the process has ended. */
  conversation(options: PythonOptions): Conversation;
  stop(): Promise<void>;
}

/** Everything that is asked of one process must be done by then. */
const LIFETIME_MS = 8 * 60_000;

/** Starts driver.py with a module of this folder, in the clean environment of the agents. */
export async function startSdkProcess(module: string): Promise<SdkProcess> {
  const { python, version } = await installPython();
  const home = await mkdtemp(join(tmpdir(), 'gym-python-'));
  const child = spawn(python, [join(import.meta.dirname, 'driver.py'), module], {
    cwd: home,
    env: { ...cleanEnvironment(home), PYTHONDONTWRITEBYTECODE: '1' },
    stdio: 'pipe',
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIFETIME_MS);
  const { request, ended } = talk(child, module);
  let started = 0;
  const named = (name: string): Conversation => ({
    ask: async (prompt) => (await request({ op: 'ask', conversation: name, prompt })) ?? '',
    summarize: async () => {
      await request({ op: 'summarize', conversation: name });
    },
    fork: async () => {
      const fork = `${name}-fork`;
      await request({ op: 'fork', conversation: name, name: fork });
      return named(fork);
    },
  });
  return {
    version,
    conversation(options) {
      started += 1;
      const name = `c${started}`;
      const starting = request({ op: 'start', conversation: name, options });
      const steps = named(name);
      return { ...steps, ask: (prompt) => starting.then(() => steps.ask(prompt)) };
    },
    async stop() {
      clearTimeout(timer);
      child.kill('SIGKILL');
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Requests and answers, one line each; whoever waits when the process ends is told so. */
function talk(child: ChildProcessWithoutNullStreams, module: string) {
  const waiting = new Map<number, PromiseWithResolvers<string | null>>();
  let stderr = '';
  let sent = 0;
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined); // the process has ended, see below
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, answer, error } = JSON.parse(line) as { id: number; answer?: string | null; error?: PythonFailure };
    const result = waiting.get(id);
    waiting.delete(id);
    if (error !== undefined) result?.reject(new PythonError(error));
    else result?.resolve(answer ?? null);
  });
  const ended = once(child, 'close').then(([code]) => {
    for (const { reject } of waiting.values()) reject(new Error(`${module} ended with ${code}\n${stderr}`));
    waiting.clear();
  });
  const request = (body: Record<string, unknown>): Promise<string | null> => {
    sent += 1;
    const result = Promise.withResolvers<string | null>();
    waiting.set(sent, result);
    child.stdin.write(`${JSON.stringify({ ...body, id: sent })}\n`);
    return result.promise;
  };
  return { request, ended };
}
