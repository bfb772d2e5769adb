import { createHash, type Hash, hash } from 'node:crypto';

/** Up to this length a text is hashed as a whole whenever it is asked for: that costs less than to copy a running hash. */
const WHOLE_TEXT = 16 * 1024;

/**
 * A running SHA-256 over bytes that are given as text, each code unit one byte. Text is gathered, since each update of the hash costs more than the bytes in it.
 */
export class RunningHash {
  private readonly charset: 'ascii' | 'latin1';
  private hash: Hash | null = null;
  private pending: string;

  /** `ascii` promises that no code unit is above 0x7f: such text need not be turned into bytes first. */
  constructor(charset: 'ascii' | 'latin1', text: string) {
    this.charset = charset;
    this.pending = text;
  }

  append(text: string): void {
    this.pending += text;
    if (this.pending.length > WHOLE_TEXT) this.flush();
  }

  /** Hex digest of everything so far and `tail`; nothing changes. */
  digest(tail = ''): string {
    const rest = this.pending + tail;
    if (this.hash !== null) return this.hash.copy().update(rest, 'latin1').digest('hex');
    return hash('sha256', this.charset === 'ascii' ? rest : Buffer.from(rest, 'latin1'));
  }

  /** An independent one with the same text so far. */
  fork(): RunningHash {
    const copy = new RunningHash(this.charset, this.pending);
    copy.hash = this.hash?.copy() ?? null;
    return copy;
  }

  private flush(): void {
    this.hash ??= createHash('sha256');
    this.hash.update(this.pending, 'latin1');
    this.pending = '';
  }
}
