import { createHash, type Hash, hash } from 'node:crypto';
import { GrowingText } from '../protocol/json/growing-text.ts';
import { ByteSink } from './byte-sink.ts';

/** Up to this length a text is hashed as a whole whenever it is asked for: that costs less than to copy a running hash. */
const WHOLE_TEXT = 16 * 1024;
const BYTES = new ByteSink(2 * WHOLE_TEXT);

/**
 * A running SHA-256 over bytes that are given as text, each code unit one byte. Text is gathered, since each update of the hash costs more than the bytes in it.
 */
export class RunningHash {
  private hash: Hash | null = null;
  /** What the hash has not seen. */
  private text: GrowingText;

  constructor(text = '') {
    this.text = new GrowingText(text);
  }

  append(text: string): void {
    this.text.append(text);
    if (this.text.head.length > WHOLE_TEXT) this.flush();
  }

  /** Hex digest of everything so far and `tail`; nothing changes. */
  digest(tail = ''): string {
    BYTES.reset(this.text.head);
    // One by one: the first, put together from pieces, is then put in one piece for good.
    BYTES.latin1(this.text.tail);
    BYTES.latin1(tail);
    return this.hash === null ? hash('sha256', BYTES.view()) : this.hash.copy().update(BYTES.view()).digest('hex');
  }

  /** An independent one with the same text so far. */
  fork(): RunningHash {
    const copy = new RunningHash();
    copy.text = this.text.fork();
    copy.hash = this.hash?.copy() ?? null;
    return copy;
  }

  private flush(): void {
    this.hash ??= createHash('sha256');
    this.hash.update(this.text.head);
    this.text = new GrowingText(this.text.tail);
  }
}
