import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadConfig } from '../../config/load.ts';
import type { ContextOverrides } from '../../src/context.ts';
import type { ReferenceWorkerOptions } from '../../src/reference-worker/options.ts';
import { type RunningReferenceWorker, startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { type RunningServer, startServer } from '../../src/server.ts';

export const CONTROL_TOKEN = 'test-control-token-0';

/** A worker and a proxy in this process, over real HTTP, with a real SQLite file unless a URL is given. */
export interface Stack {
  readonly worker: RunningReferenceWorker;
  readonly proxy: RunningServer;
  /** `<proxy>/ng-rollout/<attempt>`, what an agent is given. */
  base(attempt: string): string;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  control(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Reply>;
  close(): Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  readonly json: any;
}

export interface StackOptions {
  readonly worker?: ReferenceWorkerOptions;
  /** Configuration by `section.key`, as text. */
  readonly config?: Record<string, string>;
  readonly overrides?: ContextOverrides;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const folder = mkdtempSync(join(tmpdir(), 'gym-proxy-'));
  const worker = await startReferenceWorker(options.worker);
  const config = loadConfig({
    flags: {
      'server.port': '0',
      workers: worker.url,
      'ledger.url': `sqlite:${join(folder, 'ledger.db')}`,
      'control.token': CONTROL_TOKEN,
      'log.level': 'silent',
      ...options.config,
    },
  });
  const proxy = await startServer(config, { log: pino({ level: 'silent' }), ...options.overrides });
  return {
    worker,
    proxy,
    base: (attempt) => `${proxy.url}/ng-rollout/${attempt}`,
    post: (path, body, headers) => send('POST', proxy.url + path, body, headers),
    get: (path, headers) => send('GET', proxy.url + path, undefined, headers),
    control: (method, path, body) =>
      send(method, proxy.controlUrl + path, body, { authorization: `Bearer ${CONTROL_TOKEN}` }),
    async close() {
      await proxy.stop();
      await worker.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One request; a string or bytes are sent as they are, anything else as JSON. */
export async function send(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const reply = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined
      ? {}
      : { body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body) }),
  });
  const text = await reply.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: reply.status, headers: reply.headers, text, json };
}
