import { isJsonProblem, parseJson } from '../../protocol/json/parse-json.ts';
import { expectOk, type HttpOptions, postJson } from '../http.ts';
import { HEAVY_MEMBERS, readStagedCall, type StagedLookup } from './staged-call.ts';
import type { StagedStore } from './staged-store.ts';

/**
 * The reference worker's TransferQueue stand-in over HTTP: `POST /transfer-queue/get-batch` and `/clear` under the worker's base URL (with or without
 * `/v1`). Throws where the worker cannot be asked.
 */
export class HttpStagedStore implements StagedStore {
  private readonly base: string;
  private readonly http: HttpOptions;

  constructor(workerUrl: string, http: HttpOptions = {}) {
    this.base = `${workerUrl.replace(/\/+$/, '').replace(/\/(v1|transfer-queue)$/, '')}/transfer-queue`;
    this.http = http;
  }

  async get(key: string): Promise<StagedLookup> {
    return (await this.getBatch([key])).get(key) ?? { kind: 'missing' };
  }

  async getBatch(keys: readonly string[]): Promise<ReadonlyMap<string, StagedLookup>> {
    const url = `${this.base}/get-batch`;
    const response = await expectOk(url, postJson(url, { keys }, this.http));
    const body = parseJson(Buffer.from(await response.arrayBuffer()), { skip: HEAVY_MEMBERS });
    const records = isJsonProblem(body) ? undefined : body.get('records');
    if (records === undefined || !records.isObject()) throw new Error(`${url} answered without records`);
    const found = new Map<string, StagedLookup>();
    for (const key of keys) {
      const record = records.present(key);
      found.set(key, record === undefined ? { kind: 'missing' } : readStagedCall(record));
    }
    return found;
  }

  async clear(keys: readonly string[]): Promise<number> {
    if (keys.length === 0) return 0;
    const url = `${this.base}/clear`;
    const response = await expectOk(url, postJson(url, { keys }, this.http));
    const body = (await response.json()) as { cleared?: unknown };
    return Array.isArray(body.cleared) ? body.cleared.length : 0;
  }
}
