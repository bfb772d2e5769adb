import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { newCallId, nowS } from './ledger/builders.ts';
import { ledgerContract } from './ledger-contract.ts';

ledgerContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gym-proxy-ledger-'));
  return {
    open: async (options = {}) => {
      const ledger = await openLedger({
        url: `sqlite:${join(folder, 'ledger.db')}`,
        replica: newCallId(),
        now: nowS,
        replies: { keepBytes: 1_000_000, keepS: 900 },
        leaseS: 15,
        abandonedAfterS: null,
        ...options,
      });
      await ledger.start();
      return ledger;
    },
    destroy: () => rm(folder, { recursive: true }),
  };
});
