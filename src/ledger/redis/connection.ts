import type { LedgerEvent } from '../options.ts';
import type { Client, RedisUrl } from './client.ts';
import { listKey, scriptKeys } from './keys.ts';
import { Link } from './link.ts';
import { SCRIPTS, type ScriptName } from './scripts.ts';

/** Runs scripts and commands until they are answered; throws LedgerUnavailable if they are not, in time. Whatever goes through here may run again. */
export interface Runner {
  /** `owner` says whose keys the script works on (keys.ts). */
  run(name: ScriptName, owner: string, args: readonly string[]): Promise<unknown>;
  command(name: string, key: string, ...args: string[]): Promise<unknown>;
}

/** Runs scripts and commands on the shared connection, again if their answer was lost; see Link. */
export class Connection implements Runner {
  readonly #link: Link;
  #isConnected = false;

  constructor(url: RedisUrl, timeoutMs: number, onEvent: (event: LedgerEvent) => void) {
    this.#link = new Link(url, timeoutMs);
    this.client.on('ready', () => {
      this.#isConnected = true;
      onEvent({ kind: 'connected', detail: `connected to Redis (${url.kind})` });
    });
    this.client.on('close', () => {
      if (this.#isConnected)
        onEvent({ kind: 'disconnected', detail: this.#link.lastError?.message ?? 'connection closed' });
      this.#isConnected = false;
    });
  }

  get client(): Client {
    return this.#link.client;
  }

  /** Connects; throws LedgerUnavailable if no server answers in time. */
  async start(): Promise<void> {
    this.#link.connect();
    await this.command('EXISTS', listKey('names'));
  }

  stop(): void {
    this.#link.stop();
  }

  run(name: ScriptName, owner: string, args: readonly string[]): Promise<unknown> {
    const script = SCRIPTS[name];
    if (args.length !== script.args.length) {
      throw new Error(`${name}.lua takes ${script.args.length} arguments, not ${args.length}`);
    }
    const keys = scriptKeys(script.keys, owner);
    return this.#link.ask(name, async () => {
      try {
        return await this.client.evalsha(script.sha1, keys.length, ...keys, ...args);
      } catch (error) {
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
        return await this.client.eval(script.lua, keys.length, ...keys, ...args);
      }
    });
  }

  command(name: string, key: string, ...args: string[]): Promise<unknown> {
    return this.#link.ask(name, () => this.client.call(name, key, ...args));
  }
}
