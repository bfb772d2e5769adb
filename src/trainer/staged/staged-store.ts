import type { StagedLookup } from './staged-call.ts';

/**
 * Where staged calls are read from: what a TransferQueue client fits behind. Keys are `<owner>/<call>`. Methods throw when the store cannot be
 * asked; a key without a record is a value.
 */
export interface StagedStore {
  get(key: string): Promise<StagedLookup>;
  /** One lookup per key. Stores may ask in one round trip; callers keep batches small. */
  getBatch(keys: readonly string[]): Promise<ReadonlyMap<string, StagedLookup>>;
  /** Takes the records of these keys away, for good. Keys without a record are no error. Gives the number that was there. */
  clear(keys: readonly string[]): Promise<number>;
}

/** How many staged records are asked for at once: bounds memory beside the rollout itself. */
export const STAGED_BATCH = 32;

/** All lookups of a rollout's keys, in small batches. */
export async function fetchStaged(
  store: StagedStore,
  keys: readonly string[],
): Promise<ReadonlyMap<string, StagedLookup>> {
  const found = new Map<string, StagedLookup>();
  for (let at = 0; at < keys.length; at += STAGED_BATCH) {
    const batch = await store.getBatch(keys.slice(at, at + STAGED_BATCH));
    for (const [key, lookup] of batch) found.set(key, lookup);
  }
  return found;
}
