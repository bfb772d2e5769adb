import type { Ledger } from './ledger.ts';
import { parseLedgerUrl } from './ledger-url.ts';
import type { LedgerOptions } from './options.ts';
import { RedisLedger } from './redis/redis-ledger.ts';
import { SqliteLedger } from './sqlite/sqlite-ledger.ts';

export type { LedgerEvent, LedgerOptions } from './options.ts';

/** The ledger that `options.url` names, not yet started. Throws an Error for a URL of none of the known forms. */
export function openLedger(options: LedgerOptions): Ledger {
  const url = parseLedgerUrl(options.url);
  switch (url.kind) {
    case 'sqlite':
      return new SqliteLedger(url.path, options);
    case 'redis':
    case 'sentinel':
    case 'cluster':
      return new RedisLedger(url, options);
    default:
      return url satisfies never;
  }
}
