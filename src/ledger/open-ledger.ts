import type { Ledger } from './ledger.ts';
import { parseLedgerUrl } from './ledger-url.ts';
import type { LedgerOptions } from './options.ts';

export type { LedgerEvent, LedgerOptions } from './options.ts';

/** The ledger that `options.url` names, not yet started; of the others nothing is loaded. Throws an Error for a URL of none of the known forms. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const url = parseLedgerUrl(options.url);
  switch (url.kind) {
    case 'sqlite': {
      const { SqliteLedger } = await import('./sqlite/sqlite-ledger.ts');
      return new SqliteLedger(url.path, options);
    }
    case 'redis':
    case 'sentinel':
    case 'cluster': {
      const { RedisLedger } = await import('./redis/redis-ledger.ts');
      return new RedisLedger(url, options);
    }
    default:
      return url satisfies never;
  }
}
