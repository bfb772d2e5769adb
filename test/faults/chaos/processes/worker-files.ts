import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { StagedRecord } from '../../../../src/protocol/wire/ledger.ts';
import type { WorkerEvent } from '../../../../src/reference-worker/worker-log.ts';
import type { Admitted, Conversation, StagedFacts, WorkerEvidence } from '../evidence.ts';
import type { CallLine, WorkerSettings } from './worker.ts';

/** What the worker has written, read as far as it has come. A line that a kill has torn is none: nothing of it was acknowledged. */
export class WorkerFiles implements WorkerEvidence {
  readonly admitted = new Map<string, Admitted[]>();
  readonly staged = new Map<string, StagedFacts>();
  readonly acknowledged = new Set<string>();
  readonly conversations = new Map<string, Conversation>();
  readonly faults = new Map<string, string>();
  /** What marks the end of each conversation. */
  readonly lastMarks = new Set<string>();
  private readonly queue: Tail;
  private readonly log: Tail;
  private readonly calls: Tail;

  private readonly keepsText: (attempt: string) => boolean;

  /** `keepsText`: of which attempts the staged records are kept as they are, beside their tokens. */
  constructor(
    files: Pick<WorkerSettings, 'queueFile' | 'logFile' | 'callsFile'>,
    keepsText: (attempt: string) => boolean,
  ) {
    this.keepsText = keepsText;
    this.queue = new Tail(files.queueFile);
    this.log = new Tail(files.logFile);
    this.calls = new Tail(files.callsFile);
  }

  read(): void {
    for (const line of this.calls.lines<CallLine>()) this.addCall(line);
    for (const line of this.log.lines<WorkerEvent>()) this.addEvent(line);
    this.queue.eachText((text) => {
      const line = JSON.parse(text) as StagedRecord | { cleared: string[] };
      if ('cleared' in line) return;
      this.staged.set(line.model_call_id, {
        parentCallId: line.parent_call_id,
        prevLen: line.prev_len,
        cumLen: line.cum_len,
        digest: line.digest,
        chainHash: line.chain_hash,
        cumulativeHash: line.cumulative_hash,
        delta: Int32Array.from(line.token_ids_delta),
        mask: Uint8Array.from(line.token_mask_delta),
        text: this.keepsText(line.capture_key) ? text : null,
      });
    });
  }

  /** After a kill, before the worker starts again: reads on, and closes what was torn. `queueRewritten` follows. */
  settle(): void {
    this.read();
    this.log.endTornLine();
    this.calls.endTornLine();
  }

  /** The queue's file holds less than before; all of it is known. */
  queueRewritten(): void {
    this.queue.skipToEnd();
  }

  private addCall(line: CallLine): void {
    if ('answer' in line) {
      const conversation = this.conversations.get(line.call);
      if (conversation !== undefined) conversation.answer = line.answer;
      return;
    }
    const { attempt, tags, hashes, roles } = line;
    this.lastMarks.add(tags.at(-1) ?? '');
    this.conversations.set(line.call, { attempt, tags, hashes, roles, answer: null });
  }

  private addEvent({
    event,
    model_call_id: callId,
    capture_key: attempt,
    parent_call_id,
    at,
    detail,
  }: WorkerEvent): void {
    if (callId === null || attempt === null) return;
    if (event === 'admitted') {
      const admitted = { attempt, parentCallId: parent_call_id, atMs: at * 1000 };
      this.admitted.set(callId, [...(this.admitted.get(callId) ?? []), admitted]);
    } else if (event === 'acknowledged') this.acknowledged.add(callId);
    else if (event === 'fault') this.faults.set(callId, detail ?? '');
  }
}

const CHUNK_BYTES = 1 << 20;

/** Reads a growing file of JSON lines, each line once. */
class Tail {
  private readonly path: string;
  private position = 0;
  private rest = Buffer.alloc(0);

  constructor(path: string) {
    this.path = path;
  }

  skipToEnd(): void {
    this.position = existsSync(this.path) ? statSync(this.path).size : 0;
    this.rest = Buffer.alloc(0);
  }

  /** After a kill: what stands after the last line end is a line of its own, and no JSON. */
  endTornLine(): void {
    if (existsSync(this.path) && this.rest.length > 0) appendFileSync(this.path, '\n');
  }

  lines<T>(): T[] {
    const lines: T[] = [];
    this.eachText((text) => lines.push(JSON.parse(text) as T));
    return lines;
  }

  eachText(take: (text: string) => void): void {
    if (!existsSync(this.path)) return;
    const file = openSync(this.path, 'r');
    try {
      const { size } = fstatSync(file);
      while (this.position < size) {
        const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - this.position));
        const read = readSync(file, chunk, 0, chunk.length, this.position);
        this.position += read;
        this.rest = Buffer.concat([this.rest, chunk.subarray(0, read)]);
        const end = this.rest.lastIndexOf(10);
        if (end === -1) continue;
        const whole = this.rest.subarray(0, end).toString();
        this.rest = this.rest.subarray(end + 1);
        for (const text of whole.split('\n')) if (text.endsWith('}')) take(text);
      }
    } finally {
      closeSync(file);
    }
  }
}
