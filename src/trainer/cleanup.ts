import { stagingKey } from '../protocol/wire/primitives.ts';
import type { LedgerView } from './ledger-view.ts';
import type { StagedStore } from './staged/staged-store.ts';

/** What may be cleared from TransferQueue once the rows of an attempt are published. */
export interface Cleanup {
  readonly keys: readonly string[];
  /** Calls that were left alone, since their worker may still write. */
  readonly excluded: readonly string[];
}

/**
 * Keys of all committed calls, selected or not. Excluded are pending calls, whose workers may still write: clearing too early would leave what they
 * write behind for good. Only keys of the attempt's own calls are ever cleared.
 */
export function cleanupKeys(ledger: LedgerView): Cleanup {
  const pending = new Set(ledger.pendingCallIds);
  const own = ledger.records.filter(({ model_call_id: callId, staging_key: key }) => {
    return !pending.has(callId) && key === stagingKey(ledger.attempt, callId);
  });
  return { keys: own.map((record) => record.staging_key), excluded: ledger.pendingCallIds };
}

/** Clears an attempt's staged calls after publication, in batches. Gives how many records were there. */
export async function clearPublished(store: StagedStore, ledger: LedgerView): Promise<number> {
  const { keys } = cleanupKeys(ledger);
  let cleared = 0;
  for (let at = 0; at < keys.length; at += CLEAR_BATCH) cleared += await store.clear(keys.slice(at, at + CLEAR_BATCH));
  return cleared;
}

const CLEAR_BATCH = 1000;
