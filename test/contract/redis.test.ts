import { openLedger } from '../../src/ledger/open-ledger.ts';
import { startRedis } from '../support/redis-server.ts';
import { newCallId, nowS, type StoreUnderTest } from './ledger/builders.ts';
import { ledgerContract } from './ledger-contract.ts';

/** A lease this short lets a census count at every sweep. */
const LEASE_S = 0.3;

function storeAt(url: string, destroy: () => Promise<void>): StoreUnderTest {
  return {
    open: async (options = {}) => {
      const ledger = openLedger({
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
    },
    destroy,
  };
}

ledgerContract('Redis', async () => {
  const server = await startRedis();
  return storeAt(server.url, () => server.stop());
});
