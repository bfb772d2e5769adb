import { REPLAY_DOMAIN } from './digest.ts';
import { RunningHash } from './running-hash.ts';
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
  private exact: RunningHash;
  /** Null until an item has a second digest of its own. */
  private second: RunningHash | null = null;

  constructor() {
    this.exact = new RunningHash(HEAD);
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
