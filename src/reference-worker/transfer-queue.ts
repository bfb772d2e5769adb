import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { type StagedRecord, stagedRecord } from '../protocol/wire/ledger.ts';

/** A line of the queue file: a staged record, or keys that were cleared. */
const fileLine = z.union([stagedRecord, z.strictObject({ cleared: z.array(z.string()) })]);

/**
 * The TransferQueue stand-in: staged calls by their key `<capture_key>/<model_call_id>`, in memory, and in a file of JSON lines if a path is given. The
 * file is read at start, so tokens outlive the worker, as they do with the real one.
 */
export class TransferQueue {
  private readonly records = new Map<string, StagedRecord>();
  private file: number | null;

  constructor(path: string | null = null) {
    if (path !== null && existsSync(path)) this.load(path);
    this.file = path === null ? null : openSync(path, 'a');
  }

  /** Stores a staged call before it is acknowledged. A key is written once: false if it is taken. Throws when the file cannot be written. */
  put(record: StagedRecord): boolean {
    if (this.records.has(record.staging_key)) return false;
    this.append(record);
    this.records.set(record.staging_key, record);
    return true;
  }

  get(key: string): StagedRecord | undefined {
    return this.records.get(key);
  }

  /** Records in the order of the keys, and the keys that there are none for. */
  batch(keys: readonly string[]): { records: StagedRecord[]; missing: string[] } {
    const found = keys.map((key) => this.records.get(key));
    return {
      records: found.filter((record) => record !== undefined),
      missing: keys.filter((_, at) => found[at] === undefined),
    };
  }

  /** Keys in the order in which they were staged. */
  keys(prefix = ''): string[] {
    return [...this.records.keys()].filter((key) => key.startsWith(prefix));
  }

  clear(keys: readonly string[]): { cleared: string[]; absent: string[] } {
    const cleared = keys.filter((key) => this.records.delete(key));
    if (cleared.length > 0) this.append({ cleared });
    const gone = new Set(cleared);
    return { cleared, absent: keys.filter((key) => !gone.has(key)) };
  }

  /** Closes the file; once is enough, twice does no harm. */
  close(): void {
    if (this.file !== null) closeSync(this.file);
    this.file = null;
  }

  private append(line: z.input<typeof fileLine>): void {
    if (this.file !== null) writeSync(this.file, `${JSON.stringify(line)}\n`);
  }

  private load(path: string): void {
    const lines = readFileSync(path, 'utf8').split('\n');
    // A worker that was killed in the middle of a line has acknowledged nothing of it: what stands after the last line end is cut off.
    const torn = lines.pop() ?? '';
    if (torn !== '') truncateSync(path, Buffer.byteLength(lines.map((line) => `${line}\n`).join('')));
    for (const [at, text] of lines.entries()) {
      const line = fileLine.safeParse(parseJson(text));
      if (!line.success) throw new Error(`${path}: line ${at + 1} is no staged record`);
      if ('cleared' in line.data) for (const key of line.data.cleared) this.records.delete(key);
      else this.records.set(line.data.staging_key, line.data);
    }
  }
}

/** Undefined, which is no line either, for a text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
