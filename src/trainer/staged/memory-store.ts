import { parseStagedCall, type StagedLookup } from './staged-call.ts';
import type { StagedStore } from './staged-store.ts';

/** Staged records held as the JSON texts that a worker would stage: for tests, examples and episodes that run in one process. */
export class MemoryStagedStore implements StagedStore {
  private readonly texts = new Map<string, string>();

  /** `text`: JSON of the staged record. A record under the same key is replaced. */
  put(key: string, text: string): void {
    this.texts.set(key, text);
  }

  get(key: string): Promise<StagedLookup> {
    const text = this.texts.get(key);
    return Promise.resolve(text === undefined ? { kind: 'missing' } : parseStagedCall(Buffer.from(text)));
  }

  async getBatch(keys: readonly string[]): Promise<ReadonlyMap<string, StagedLookup>> {
    return new Map(await Promise.all(keys.map(async (key) => [key, await this.get(key)] as const)));
  }

  clear(keys: readonly string[]): Promise<number> {
    return Promise.resolve(keys.filter((key) => this.texts.delete(key)).length);
  }
}
