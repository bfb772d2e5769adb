import type { Ledger } from '../../../src/ledger/ledger.ts';
import { type LedgerOptions, openLedger } from '../../../src/ledger/open-ledger.ts';
import { newCallId, nowS } from './builders.ts';

/** A lease this short lets a census count at every sweep. */
const LEASE_S = 0.3;

/** Opens and starts a ledger of a replica of its own. */
export async function openRedisLedger(url: string, options: Partial<LedgerOptions> = {}): Promise<Ledger> {
  const ledger = await openLedger({
    url,
    replica: newCallId(),
    now: nowS,
    replies: { keepBytes: 1_000_000, keepS: 900 },
    leaseS: LEASE_S,
    abandonedAfterS: null,
    ...options,
  });
  await ledger.start();
  return ledger;
}
