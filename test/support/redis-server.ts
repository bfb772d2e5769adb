import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { findRedis } from './redis-binary.ts';

export type RedisOptions = {
  /** Further server settings, as on redis-server's command line. They win over the defaults. */
  args?: string[];
  /** Working folder, kept by `stop`. Default: a temporary one, removed by `stop`. */
  dir?: string;
  /** Default: a free one. */
  port?: number;
  /** Path of a Unix socket to listen on beside the port. */
  unixSocket?: string;
  /** A configuration file (sentinels rewrite theirs). */
  configFile?: string;
};

export type RedisServer = {
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  /** Of the running process; another one after `restart`. */
  readonly pid: number;
  /** Ends the server in order (SIGTERM) and removes its temporary folder. Does nothing when it is stopped already. */
  stop(): Promise<void>;
  /** Ends the server at once (SIGKILL). The folder stays, so `restart` finds what reached the disk. */
  kill9(): Promise<void>;
  /** Starts the server again on the same port and folder; a running one is ended in order first. */
  restart(): Promise<void>;
};

/** Every answered write is on disk before its answer: what a ledger in production wants, and what `kill9` tests need. */
export const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const PORT_TRIES = 5;

/**
 * Starts a private Redis server on 127.0.0.1 and answers once it takes commands. By default it keeps nothing on disk; see
 * `DURABLE`. It is ended with this process at the latest.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'gym-proxy-redis-')));
  const tries = options.port === undefined ? PORT_TRIES : 1;
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    try {
      return await startOn(port, dir, options);
    } catch (error) {
      if (attempt < tries && (error as Error).message.includes('Address already in use')) continue;
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }
}

async function startOn(port: number, dir: string, options: RedisOptions): Promise<RedisServer> {
  const args = [
    ...(options.configFile === undefined ? [] : [options.configFile]),
    ...['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--daemonize', 'no', '--save', ''],
    ...(options.unixSocket === undefined ? [] : ['--unixsocket', options.unixSocket]),
    ...(options.args ?? []),
  ];
  let running = await launch(args, port);

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await endProcess(running, signal);
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    dir,
    get pid() {
      return running.pid!;
    },
    async stop() {
      await end('SIGTERM');
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      running = await launch(args, port);
    },
  };
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts the process and waits until it takes commands. */
async function launch(args: string[], port: number): Promise<ChildProcess> {
  const redis = await findRedis();
  const [command, ...prefix] = endingWithUs(redis.server);
  const env = { ...process.env, ...redis.env };
  const child = spawn(command!, [...prefix, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const log: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => log.push(String(chunk)));

  let given = false;
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      reject(new Error(`redis-server on port ${port} ended (${code ?? signal}):\n${log.join('')}`));
    });
  });
  try {
    await Promise.race([ended, waitUntilReady(child, port, () => given)]);
  } catch (error) {
    given = true;
    await endProcess(child, 'SIGKILL');
    throw error;
  }
  for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').resume();
  return child;
}

/** Where Linux offers it, lets the kernel end the server with us, also when we are killed ourselves. */
function endingWithUs(server: string): string[] {
  const setpriv = '/usr/bin/setpriv';
  return existsSync(setpriv) ? [setpriv, '--pdeathsig', 'KILL', server] : [server];
}

async function waitUntilReady(child: ChildProcess, port: number, givenUp: () => boolean): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!givenUp()) {
    if (await takesCommands(child, port)) return;
    if (Date.now() > deadline) throw new Error(`redis-server on port ${port} was not ready in ${READY_TIMEOUT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * False while nobody listens, while the server loads its data (-LOADING), and when another process took the port first. A
 * server with a password answers neither question (-NOAUTH) and counts as ready.
 */
function takesCommands(child: ChildProcess, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.end('INFO server\r\nPING\r\nQUIT\r\n'));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    socket.once('error', () => resolve(false)); // nobody listens yet: the caller asks again until its deadline
    socket.once('close', () => {
      const ours = new RegExp(`^process_id:${child.pid}\r$`, 'm').test(answer);
      resolve((ours && answer.includes('+PONG')) || answer.startsWith('-NOAUTH'));
    });
  });
}

async function endProcess(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const hung = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(hung);
}
