import { type FileHandle, open } from 'node:fs/promises';
import { isJsonProblem, parseJson } from '../../protocol/json/parse-json.ts';
import { stagingKey } from '../../protocol/wire/primitives.ts';
import { SourceError } from '../source-error.ts';
import { HEAVY_MEMBERS, parseStagedCall, type StagedLookup } from './staged-call.ts';
import type { StagedStore } from './staged-store.ts';

interface Place {
  readonly offset: number;
  readonly length: number;
}

/**
 * Staged records in a file of JSON lines, one record a line; also the reference worker's queue file, whose lines `{"cleared":[keys]}` take earlier
 * records away. Opening reads the file once for the places of the keys; records stay on disk. The last line of a key counts.
 */
export class JsonlStagedStore implements StagedStore {
  private readonly file: FileHandle;
  private readonly places: Map<string, Place>;

  private constructor(file: FileHandle, places: Map<string, Place>) {
    this.file = file;
    this.places = places;
  }

  /** Opens and indexes. Throws where the file cannot be read or a line is not JSON with a staging key; the message names the line. */
  static async open(path: string): Promise<JsonlStagedStore> {
    const file = await open(path, 'r');
    try {
      return new JsonlStagedStore(file, await indexLines(file, path));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get size(): number {
    return this.places.size;
  }

  async get(key: string): Promise<StagedLookup> {
    const place = this.places.get(key);
    if (place === undefined) return { kind: 'missing' };
    const bytes = Buffer.allocUnsafe(place.length);
    const { bytesRead } = await this.file.read(bytes, 0, place.length, place.offset);
    return parseStagedCall(bytes.subarray(0, bytesRead));
  }

  async getBatch(keys: readonly string[]): Promise<ReadonlyMap<string, StagedLookup>> {
    const found = new Map<string, StagedLookup>();
    for (const key of keys) found.set(key, await this.get(key));
    return found;
  }

  /** Forgets the keys; the file, which may be a worker's, is not written. */
  clear(keys: readonly string[]): Promise<number> {
    return Promise.resolve(keys.filter((key) => this.places.delete(key)).length);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

const CHUNK_BYTES = 1 << 20;
const LINE_END = 0x0a;

async function indexLines(file: FileHandle, path: string): Promise<Map<string, Place>> {
  const places = new Map<string, Place>();
  let lineNumber = 0;
  const take = (line: Buffer, offset: number) => {
    lineNumber++;
    if (line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)) return;
    indexLine(places, line, offset, `${path}: line ${lineNumber}`);
  };
  let rest: Buffer = Buffer.alloc(0);
  let restOffset = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, rest.length));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, restOffset + rest.length);
    if (bytesRead === 0) break;
    const text = rest.length === 0 ? chunk.subarray(0, bytesRead) : Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let start = 0;
    for (let end = text.indexOf(LINE_END, rest.length); end >= 0; end = text.indexOf(LINE_END, start)) {
      take(text.subarray(start, end), restOffset + start);
      start = end + 1;
    }
    rest = text.subarray(start);
    restOffset += start;
  }
  if (rest.length > 0) take(rest, restOffset);
  return places;
}

function indexLine(places: Map<string, Place>, line: Buffer, offset: number, where: string): void {
  const node = parseJson(line, { skip: HEAVY_MEMBERS });
  if (isJsonProblem(node)) throw new SourceError(`${where} is no JSON: ${node.problem}`);
  const cleared = node.get('cleared');
  if (cleared?.isArray()) {
    for (const key of cleared.elements()) places.delete(key.string() ?? '');
    return;
  }
  const owner = (node.get('rollout_id') ?? node.get('capture_key'))?.string();
  const callId = node.get('model_call_id')?.string();
  const made = owner === undefined || callId === undefined ? undefined : stagingKey(owner, callId);
  const key = node.get('staging_key')?.string() ?? made;
  if (key === undefined) throw new SourceError(`${where} has no staging_key`);
  places.set(key, { offset, length: line.length });
}
