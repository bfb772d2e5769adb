import type { LedgerEvent } from '../options.ts';
import { type Client, createClient, type RedisUrl } from './client.ts';
import { scriptKeys } from './keys.ts';
import { SCRIPTS, type ScriptName } from './scripts.ts';
import { type Asking, untilAnswered } from './until-answered.ts';

/**
 * Runs commands until they are answered. Whatever is sent here has the same outcome when it runs again, so a command whose answer was lost is simply
 * sent again, within `timeoutMs` in all; after that LedgerUnavailable says that nothing is known.
 */
export class Connection {
  readonly client: Client;
  readonly #timeoutMs: number;
  #lastError: Error | null = null;
  #isConnected = false;
  #isStopped = false;

  constructor(url: RedisUrl, timeoutMs: number, onEvent: (event: LedgerEvent) => void) {
    this.client = createClient(url);
    this.#timeoutMs = timeoutMs;
    this.client.on('error', (error: Error) => {
      this.#lastError = error;
    });
    this.client.on('ready', () => {
      this.#isConnected = true;
      onEvent({ kind: 'connected', detail: `connected to Redis (${url.kind})` });
    });
    this.client.on('close', () => {
      if (this.#isConnected) onEvent({ kind: 'disconnected', detail: this.#lastError?.message ?? 'connection closed' });
      this.#isConnected = false;
    });
  }

  /** Connects; throws LedgerUnavailable if no server answers in time. */
  async start(): Promise<void> {
    // What goes wrong here is met again, and told, by the first command.
    this.client.connect().catch((error: Error) => {
      this.#lastError = error;
    });
    await this.command('EXISTS', scriptKeys(['names'], '')[0]!);
  }

  stop(): void {
    this.#isStopped = true;
    this.client.disconnect();
  }

  /** Runs a script; `owner` says whose keys it works on (keys.ts). */
  run(name: ScriptName, owner: string, args: readonly string[]): Promise<unknown> {
    const script = SCRIPTS[name];
    if (args.length !== script.args.length)
      throw new Error(`${name}.lua takes ${script.args.length} arguments, not ${args.length}`);
    const keys = scriptKeys(script.keys, owner);
    return untilAnswered(this.#asking(name), async () => {
      try {
        return await this.client.evalsha(script.sha1, keys.length, ...keys, ...args);
      } catch (error) {
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
        return await this.client.eval(script.lua, keys.length, ...keys, ...args);
      }
    });
  }

  /** Runs a plain command. */
  command(name: string, ...args: string[]): Promise<unknown> {
    return untilAnswered(this.#asking(name), () => this.client.call(name, ...args));
  }

  #asking(what: string): Asking {
    return { what, timeoutMs: this.#timeoutMs, lastError: () => this.#lastError, isStopped: () => this.#isStopped };
  }
}
