import { closeSync, openSync, readSync } from 'node:fs';
import { isJsonProblem, parseJson } from '../../protocol/json/parse-json.ts';
import { stagingKey } from '../../protocol/wire/primitives.ts';
import { SourceError } from '../source-error.ts';
import { splitRecord } from './split-record.ts';
import { parseStagedCall, type StagedLookup, TOKEN_LISTS } from './staged-call.ts';
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
  private readonly fd: number;
  private readonly places: Map<string, Place>;
  /** Used again for every record. Reads are synchronous, so that two of them never share it. */
  private buffer: Buffer = Buffer.alloc(0);

  private constructor(fd: number, places: Map<string, Place>) {
    this.fd = fd;
    this.places = places;
  }

  /** Opens and indexes. Throws where the file cannot be read or a line is not JSON with a staging key; the message names the line. */
  static open(path: string): JsonlStagedStore {
    const fd = openSync(path, 'r');
    try {
      return new JsonlStagedStore(fd, indexLines(fd, path));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  get size(): number {
    return this.places.size;
  }

  get(key: string): Promise<StagedLookup> {
    return Promise.resolve(this.read(key));
  }

  getBatch(keys: readonly string[]): Promise<ReadonlyMap<string, StagedLookup>> {
    return Promise.resolve(new Map(keys.map((key) => [key, this.read(key)])));
  }

  /** Forgets the keys; the file, which may be a worker's, is not written. */
  clear(keys: readonly string[]): Promise<number> {
    return Promise.resolve(keys.filter((key) => this.places.delete(key)).length);
  }

  close(): void {
    closeSync(this.fd);
  }

  private read(key: string): StagedLookup {
    const place = this.places.get(key);
    if (place === undefined) return { kind: 'missing' };
    if (this.buffer.length < place.length) this.buffer = Buffer.allocUnsafeSlow(place.length);
    const bytesRead = readSync(this.fd, this.buffer, 0, place.length, place.offset);
    return parseStagedCall(this.buffer.subarray(0, bytesRead));
  }
}

const CHUNK_BYTES = 1 << 20;
const LINE_END = 0x0a;

/** Reads the file once, with room for little more than its longest line. */
function indexLines(fd: number, path: string): Map<string, Place> {
  const places = new Map<string, Place>();
  let buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  /** Where the buffer's first byte stands in the file, and how much of it is filled. */
  let offset = 0;
  let filled = 0;
  let lineNumber = 0;
  for (let ended = false; !ended; ) {
    if (filled === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length);
    const bytesRead = readSync(fd, buffer, filled, buffer.length - filled, offset + filled);
    const searchFrom = filled;
    filled += bytesRead;
    ended = bytesRead === 0;
    const text = buffer.subarray(0, filled);
    let start = 0;
    for (let end = text.indexOf(LINE_END, searchFrom); end >= 0; end = text.indexOf(LINE_END, start)) {
      indexLine(places, text.subarray(start, end), offset + start, `${path}: line ${++lineNumber}`);
      start = end + 1;
    }
    if (ended && start < filled)
      indexLine(places, text.subarray(start), offset + start, `${path}: line ${++lineNumber}`);
    buffer.copyWithin(0, start, filled);
    offset += start;
    filled -= start;
  }
  return places;
}

function indexLine(places: Map<string, Place>, line: Buffer, offset: number, where: string): void {
  if (line.every(isSpace)) return;
  const node = parseJson(splitRecord(line, TOKEN_LISTS)?.light ?? line);
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

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
