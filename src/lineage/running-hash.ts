import { createHash, type Hash, hash } from 'node:crypto';
import { ByteSink } from './byte-sink.ts';

/** Up to this length a text is hashed as a whole whenever it is asked for: that costs less than to copy a running hash. */
const WHOLE_TEXT = 16 * 1024;
/** Up to this length what came last is a text of its own. */
const SHORT_TEXT = 1024;
const BYTES = new ByteSink(2 * WHOLE_TEXT);

/**
 * A running SHA-256 over bytes that are given as text, each code unit one byte. Text is gathered, since each update of the hash costs more than the bytes in it.
 */
export class RunningHash {
  private hash: Hash | null = null;
  /** What the hash has not seen: a long text that seldom changes, so that it need not be put together again for each digest, and a short one behind it. */
  private pending: string;
  private latest = '';

  constructor(text: string) {
    this.pending = text;
  }

  append(text: string): void {
    this.latest += text;
    if (this.latest.length <= SHORT_TEXT) return;
    this.pending += this.latest;
    this.latest = '';
    if (this.pending.length > WHOLE_TEXT) this.flush();
  }

  /** Hex digest of everything so far and `tail`; nothing changes. */
  digest(tail = ''): string {
    BYTES.reset();
    BYTES.latin1(this.pending);
    BYTES.latin1(this.latest + tail);
    return this.hash === null ? hash('sha256', BYTES.view()) : this.hash.copy().update(BYTES.view()).digest('hex');
  }

  /** An independent one with the same text so far. */
  fork(): RunningHash {
    const copy = new RunningHash(this.pending);
    copy.latest = this.latest;
    copy.hash = this.hash?.copy() ?? null;
    return copy;
  }

  private flush(): void {
    this.hash ??= createHash('sha256');
    this.hash.update(this.pending, 'latin1');
    this.pending = '';
  }
}
