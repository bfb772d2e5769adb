import type { JsonNode } from '../../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../../protocol/json/parse-json.ts';
import { expectOk, type HttpOptions, postJson } from '../http.ts';
import { SourceError } from '../source-error.ts';
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
    const found = isJsonProblem(body) ? null : readBatch(body, keys);
    if (found === null) throw new SourceError(`${url} did not answer with one record or none per key`);
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

/**
 * `records` as an object by key, null where there is none; or as a list in the order of the keys, without those that `missing` names. What lies under a
 * key is never sought by what the record says of itself.
 */
function readBatch(body: JsonNode, keys: readonly string[]): ReadonlyMap<string, StagedLookup> | null {
  const records = body.get('records');
  if (records?.isObject()) return new Map(keys.map((key) => [key, lookupOf(records.present(key))]));
  if (!records?.isArray()) return null;
  const missing = new Set(
    body
      .get('missing')
      ?.elements()
      .map((key) => key.string()),
  );
  const there = keys.filter((key) => !missing.has(key));
  if (there.length !== records.elements().length) return null;
  const found = new Map<string, StagedLookup>(keys.map((key) => [key, { kind: 'missing' }]));
  for (const [at, record] of records.elements().entries()) found.set(there[at] as string, lookupOf(record));
  return found;
}

function lookupOf(record: JsonNode | undefined): StagedLookup {
  return record === undefined || record.isNull() ? { kind: 'missing' } : readStagedCall(record);
}
