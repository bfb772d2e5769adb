import type { HttpOptions } from '../http.ts';
import { isUrl } from '../ledger-client.ts';
import { HttpStagedStore } from '../staged/http-store.ts';
import { JsonlStagedStore } from '../staged/jsonl-store.ts';
import type { StagedStore } from '../staged/staged-store.ts';

/** Staged stores by path or address, each opened once. */
export class StagedSources {
  private readonly stores = new Map<string, StagedStore>();
  private readonly files: JsonlStagedStore[] = [];
  private readonly http: HttpOptions;

  constructor(http: HttpOptions) {
    this.http = http;
  }

  /** Throws where a file cannot be read or holds something else than staged records. */
  open(source: string): StagedStore {
    const known = this.stores.get(source);
    if (known !== undefined) return known;
    const store = isUrl(source) ? new HttpStagedStore(source, this.http) : this.openFile(source);
    this.stores.set(source, store);
    return store;
  }

  close(): void {
    for (const file of this.files) file.close();
  }

  private openFile(path: string): StagedStore {
    const store = JsonlStagedStore.open(path);
    this.files.push(store);
    return store;
  }
}
