import { createHash, type Hash, hash } from 'node:crypto';
import { REPLAY_DOMAIN } from './digest.ts';
import type { EvidenceItem, PrefixSummary } from './types.ts';

const HEAD = `${REPLAY_DOMAIN}{"items":[`;
const TAIL = '],"normalization_version":1}';

/** What of an item goes into a summary. The role is a wire role, `developer` too: peers may send it. */
export type SummarizedItem = Pick<EvidenceItem, 'digest' | 'emptyToolContentDigest'> & { readonly role: string };

/**
 * Summaries of growing prefixes of a history in one pass (protocol section 3, byte-exact): the digest of
 * `{"items":[[role,digest],...],"normalization_version":1}`, and the same with second digests where items have one. Until an item has one
 * both are the same, and only one hash runs.
 */
export class PrefixSummarizer {
  private itemCount = 0;
  private exact: RunningText;
  /** Null until an item has a second digest of its own. */
  private second: RunningText | null = null;

  constructor() {
    this.exact = new RunningText(HEAD);
  }

  push(item: SummarizedItem): void {
    const separator = this.itemCount === 0 ? '' : ',';
    const { digest, emptyToolContentDigest } = item;
    const other = emptyToolContentDigest !== null && emptyToolContentDigest !== digest;
    if (other && this.second === null) this.second = this.exact.fork();
    const head = `${separator}["${item.role}","`;
    this.exact.append(`${head}${digest}"]`);
    this.second?.append(`${head}${emptyToolContentDigest ?? digest}"]`);
    this.itemCount++;
  }

  /** Summary of the items pushed so far. More may be pushed afterwards. */
  summary(): PrefixSummary {
    const sourceDigest = this.exact.digest(TAIL);
    return {
      itemCount: this.itemCount,
      sourceDigest,
      emptyToolContentDigest: this.second === null ? sourceDigest : this.second.digest(TAIL),
    };
  }

  /** An independent summarizer with the same items so far. */
  fork(): PrefixSummarizer {
    const copy = new PrefixSummarizer();
    copy.itemCount = this.itemCount;
    copy.exact = this.exact.fork();
    copy.second = this.second?.fork() ?? null;
    return copy;
  }
}

/** Summary of all of `items`. */
export function prefixSummary(items: Iterable<SummarizedItem>): PrefixSummary {
  const summarizer = new PrefixSummarizer();
  for (const item of items) summarizer.push(item);
  return summarizer.summary();
}

/** Up to this length a text is hashed as a whole whenever it is asked for: that costs less than to copy a running hash. */
const WHOLE_TEXT = 16 * 1024;

/** A running SHA-256 over ASCII text. Text is gathered, since each update of the hash costs more than the bytes in it. */
class RunningText {
  private hash: Hash | null = null;
  private pending: string;

  constructor(text: string) {
    this.pending = text;
  }

  append(text: string): void {
    this.pending += text;
    if (this.pending.length > WHOLE_TEXT) this.flush();
  }

  /** Hex digest of everything so far and `tail`; nothing changes. */
  digest(tail: string): string {
    if (this.hash === null) return hash('sha256', this.pending + tail);
    return this.hash
      .copy()
      .update(this.pending + tail, 'latin1')
      .digest('hex');
  }

  fork(): RunningText {
    const copy = new RunningText(this.pending);
    copy.hash = this.hash?.copy() ?? null;
    return copy;
  }

  private flush(): void {
    this.hash ??= createHash('sha256');
    this.hash.update(this.pending, 'latin1');
    this.pending = '';
  }
}
