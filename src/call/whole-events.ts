import type { RelaySink } from '../worker/relay.ts';

const LF = 0x0a;
const CR = 0x0d;
/** Bytes before a place that decide whether an event ends there. */
const LOOK_BACK = 3;

/**
 * Passes an event stream on event by event: what has come of an event stays here until its end is there. So a stream that breaks off ends behind a whole event, and one
 * more, which says what happened, can follow. No byte is changed.
 */
export class WholeEvents implements RelaySink {
  readonly #sink: RelaySink;
  #begun: Buffer[] = [];

  constructor(sink: RelaySink) {
    this.#sink = sink;
  }

  open(contentType: string): void {
    this.#sink.open(contentType);
  }

  write(chunk: Buffer, drained: () => void): boolean {
    const before = this.#lastBytes();
    const end = endOfEvents(Buffer.concat([before, chunk])) - before.length;
    if (end <= 0) {
      this.#begun.push(chunk);
      return true;
    }
    const last = chunk.subarray(0, end);
    const whole = this.#begun.length === 0 ? last : Buffer.concat([...this.#begun, last]);
    this.#begun = end < chunk.length ? [chunk.subarray(end)] : [];
    return this.#sink.write(whole, drained);
  }

  /** The engine is done: what it left without an end goes out, too. */
  end(): void {
    if (this.#begun.length > 0) this.#sink.write(Buffer.concat(this.#begun), () => undefined);
    this.#begun = [];
    this.#sink.end();
  }

  /** The last bytes of what has begun. */
  #lastBytes(): Buffer {
    const last: Buffer[] = [];
    let length = 0;
    for (let at = this.#begun.length - 1; at >= 0 && length < LOOK_BACK; at--) {
      const piece = this.#begun[at] as Buffer;
      last.unshift(piece);
      length += piece.length;
    }
    return Buffer.concat(last).subarray(-LOOK_BACK);
  }
}

/** One past the last blank line, of any of the three line ends; 0 where there is none. */
function endOfEvents(bytes: Buffer): number {
  for (let at = bytes.length - 1; at > 0; at--) {
    const [byte, before] = [bytes[at], bytes[at - 1]];
    if (byte === LF && (before === LF || (before === CR && (bytes[at - 2] === LF || bytes[at - 2] === CR))))
      return at + 1;
    if (byte === CR && before === CR) return at + 1;
  }
  return 0;
}
