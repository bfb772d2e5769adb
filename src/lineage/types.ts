import type { EngineRole } from '../protocol/conversation.ts';
import type { Memorable } from '../protocol/json/memo.ts';

/** `lineage.reasoning` (protocol section 3). */
export type ReasoningPolicy = 'required' | 'optional' | 'hidden';

/** Evidence of one message: an item of `request_replay`. Digests are 64 hex digits. Made with its `memo`, so that it has one shape before and after something is kept on it. */
export interface EvidenceItem extends Memorable {
  readonly role: EngineRole;
  readonly digest: string;
  /** Assistant turns with tool calls and no content: the digest with content "". Null elsewhere. */
  readonly emptyToolContentDigest: string | null;
  /** Policy `optional`, assistant items with reasoning: its digest. Null elsewhere. */
  readonly reasoningDigest: string | null;
}

/** Summary of the first `itemCount` items (section 3). */
export interface PrefixSummary {
  readonly itemCount: number;
  readonly sourceDigest: string;
  readonly emptyToolContentDigest: string;
}
