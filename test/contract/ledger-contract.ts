import { after, before, describe } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { admitting } from './ledger/admitting.ts';
import type { StoreUnderTest } from './ledger/builders.ts';
import { closing } from './ledger/closing.ts';
import { committing } from './ledger/committing.ts';
import { property } from './ledger/property.ts';
import { reading } from './ledger/reading.ts';
import { resending } from './ledger/resending.ts';
import { searching } from './ledger/searching.ts';
import { settling } from './ledger/settling.ts';
import { succeeding } from './ledger/succeeding.ts';

export interface LedgerUnderTest {
  /** One ledger for many tests; each uses attempts of its own. */
  readonly ledger: Ledger;
}

/**
 * What every ledger promises (src/ledger/ledger.ts), sentence by sentence. `createStore` makes an empty store; a store of its own is made where a test needs
 * the whole of it.
 */
export function ledgerContract(name: string, createStore: () => Promise<StoreUnderTest>): void {
  describe(`ledger contract: ${name}`, () => {
    let store: StoreUnderTest;
    let ledger: Ledger;
    before(async () => {
      store = await createStore();
      ledger = await store.open();
    });
    after(async () => {
      await ledger?.stop();
      await store?.destroy();
    });
    const shared: LedgerUnderTest = {
      get ledger() {
        return ledger;
      },
    };
    admitting(shared);
    searching(shared);
    committing(shared);
    settling(shared);
    resending(shared);
    closing(shared);
    reading(shared);
    property(shared);
    succeeding(createStore);
  });
}
