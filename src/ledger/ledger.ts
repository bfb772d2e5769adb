import type { FailureReason } from '../protocol/wire/ledger.ts';

/**
 * The ledger: what is known of every attempt, without a single token. It is the product; everything that this service promises is a promise
 * about these operations. SQLite and Redis implement it, and one contract suite (test/contract) runs against both.
 *
 * An attempt is open, closed, retired (a fence stays) or unknown (never used, or deleted: the same thing). Inside an attempt a call goes
 *
 *     admit ──▶ pending ──commit──▶ committed
 *                 │  └───settleRefused──▶ refused
 *                 └──addFailure: stays pending, and has a failure row; a late commit still clears it
 *
 * pending = intents − records − refusals, at every moment. Each operation is one atomic step and one round trip, and each can be run again
 * after a lost answer with the same outcome. Operations throw {@link LedgerUnavailable} when the store cannot be asked or cannot promise
 * durability; every other outcome is a value.
 */
export interface Ledger {
  /** Prepares the store (connect, migrate, checks) and registers this replica's lease. */
  start(): Promise<void>;
  /** Releases the lease and closes connections. Calls that are still pending stay so; the next sweep adds their failure rows. */
  stop(): Promise<void>;

  /**
   * Records a durable, unique intent and proposes the candidate, in one atomic step (protocol sections 1 and 3):
   * attempt retired or closed? → re-send? → `afterFailure` → `maxCalls` → named parent, or longest prefix among the committed records → ambiguity
   * settled by echoed ids, twins → intent recorded with its outcome. Running it again with the same call id gives the same outcome and records
   * nothing more. A re-send of a call that was admitted before the close is still answered after it: nothing is recorded for it.
   */
  admit(request: AdmitRequest): Promise<AdmitOutcome>;

  /** The candidate search of {@link admit} alone, for measuring (section 9): records nothing, answers on a closed attempt too. */
  propose(request: ProposeRequest): Promise<ProposeOutcome>;

  /**
   * Records the CallRecord of an admitted call, durable before the promise resolves. Clears `pending`, also when a failure row exists, also after close.
   * The same record again is `already_committed`; another one for the same call is `conflict` and changes nothing.
   */
  commit(request: CommitRequest): Promise<CommitOutcome>;

  /**
   * Settles an intent as refused: neither pending nor failed (section 6), so failure rows that it has go. `true` also if it already is refused; `false`
   * if there is no such intent or it has committed.
   */
  settleRefused(attempt: string, callId: string, code: string): Promise<boolean>;

  /** Adds a failure row; identical rows collapse, different reasons of one call accumulate. Never touches `pending`. `false` if the attempt is retired, does not know the call, or refused it. */
  addFailure(attempt: string, callId: string, reason: FailureReason): Promise<boolean>;

  /**
   * A client went away before the reply of `callId` was handed over in full. Once nobody waits for the reply, a re-send may claim it.
   * `waiter`: the call id with which that client was admitted: `callId` itself, or the id with which a re-send joined it. Without it, nobody waits any more.
   */
  clientGone(attempt: string, callId: string, waiter?: string): Promise<void>;
  /** The reply was handed over in full, to the first client or to one that joined. Kept replies that no Idempotency-Key can ask for again are dropped. */
  delivered(attempt: string, callId: string): Promise<void>;
  /** What became of a call that a re-send joined. A call with a failure row counts as failed, also when it commits late. */
  replyOf(attempt: string, callId: string): Promise<ReplyState>;

  /** Closes admissions atomically (idempotent; an unknown attempt becomes closed). After it returns no intent is added. */
  close(attempt: string): Promise<'closed' | 'retired'>;
  /** Intents that neither committed, nor were refused, nor have a failure row: what close waits for. 0 for an unknown attempt. */
  unsettled(attempt: string): Promise<number>;
  /** Resolves early when `unsettled` may have changed (a hint; callers look again). Resolves after `waitMs` at the latest. */
  changed(attempt: string, waitMs: number): Promise<void>;

  /** Removes all rows and leaves a fence: late commits are dropped, reads and calls answer retired. Fences unknown attempts too. */
  retire(attempts: readonly string[]): Promise<Removal>;
  /** Removes rows and fence: the name is new again, and nothing of the old attempt can enter the new one. */
  delete(attempts: readonly string[]): Promise<Removal>;

  /** Everything about an attempt but the records, taken at one moment. Records 0..recordCount-1 can then be read in pages; they never change. */
  snapshot(attempt: string): Promise<AttemptSnapshot | 'retired'>;
  /** JSON texts of records `from` .. `from + limit - 1` in commit order, the very texts that were committed. Shorter at the end. */
  records(attempt: string, from: number, limit: number): Promise<string[]>;
  /** Item sketches of all committed calls with commit number below `before`, in commit order: what explains a root (why_root). */
  sketches(attempt: string, before: number): Promise<StoredSketch[]>;
  /** Attempts by name order after `cursor` (null: from the start), for the page and the command line. */
  attempts(cursor: string | null, limit: number): Promise<AttemptOverview[]>;

  /** Renews this replica's lease and settles what dead replicas left: `request_finished_without_staged_coordinates` for each of their pending intents without a failure row. */
  sweep(): Promise<SweepReport>;
  /** Gauges for /metrics; cheap. Redis: as of the latest sweep of any replica, and the bytes of this one. */
  gauges(): Promise<LedgerGauges>;
  /** Rejects with {@link LedgerUnavailable} where calls cannot be recorded (Redis: where it cannot be asked); cheap. */
  ready(): Promise<void>;
  /** Reachability and the durability that the store really gives, for `doctor` and /metrics. */
  check(): Promise<LedgerCheck[]>;
}

export interface AdmitRequest {
  readonly attempt: string;
  /** 32 hex digits. */
  readonly callId: string;
  /** The replica that the ledger was opened for. */
  readonly replica: string;
  /** Seconds since the epoch. */
  readonly admittedAtS: number;
  /**
   * The boundary right after the request's last assistant item; null: there is none, or the rest is empty or has a role other than user/tool: nothing can
   * match, and `onUnmatched` decides. (Schema 2 passes `root` there for a request without any assistant turn.)
   */
  readonly boundary: Boundary | null;
  /** `x-nemo-gym-capture-parent`: absent, null (a root without search), or the response id of the accepted earlier response. */
  readonly namedParent: string | null | undefined;
  /** Several candidates that nothing settles. */
  readonly onAmbiguous: 'refuse' | 'root' | 'unresolved';
  /** No candidate. `root_if_fresh` (schema 2): a root only in an attempt without any record or failure, else unresolved. */
  readonly onUnmatched: 'root' | 'root_if_fresh';
  /** `capture.after_failure`. */
  readonly afterFailure: 'serve' | 'refuse';
  readonly maxCalls: number;
  readonly resend: ResendKey | null;
}

export type ProposeRequest = Pick<AdmitRequest, 'attempt' | 'boundary' | 'namedParent' | 'onAmbiguous'>;

export type ProposeOutcome =
  | { readonly kind: 'proposed'; readonly candidate: Candidate | null }
  | { readonly kind: 'refused'; readonly code: 'attempt_retired' | 'unknown_parent' | 'ambiguous_candidate' };

/** Summary of the request's items up to the boundary, and what settles an ambiguity. All digests are hex. */
export interface Boundary {
  readonly itemCount: number;
  readonly sourceDigest: string;
  readonly emptyToolContentDigest: string;
  readonly renderDigest: string;
  /** Ids that stand in the assistant turn before the boundary. */
  readonly echoedIds: readonly string[];
  /**
   * `lineage.reasoning: optional`: the reasoning digest of each assistant item of the prefix, in order, null where the request carries none.
   * A candidate matches only if each non-null one equals what that turn was served (or first sent) with. Null: reasoning is in the digests.
   */
  readonly reasoning: readonly (string | null)[] | null;
}

/** Identity of a request for the re-send rule (design, "Never twice"): path and body but for `stream` and `stream_options`. */
export interface ResendKey {
  /** SHA-256 hex over path and body. */
  readonly requestDigest: string;
  readonly idempotencyKey: string | null;
}

export interface Candidate {
  readonly callId: string;
  readonly cumLen: number;
  readonly chainHash: string;
  /** Staging keys of the candidate's ancestry, root first, its own last. */
  readonly stagingChain: readonly string[];
  /** The candidate's `replay` summary. */
  readonly itemCount: number;
  readonly sourceDigest: string;
  readonly emptyToolContentDigest: string;
  readonly renderDigest: string;
  /** `exact` whenever the exact digests agree. */
  readonly match: 'exact' | 'empty_tool_content';
}

export type AdmitOutcome =
  | {
      readonly kind: 'admitted';
      readonly candidate: Candidate | null;
      /** For a root: what the search said. `named_parent`: a named parent that this request does not extend, or null. */
      readonly rootedBy: 'unmatched' | 'ambiguous' | 'named_parent' | null;
      /** With rootedBy `named_parent`: the call whose response the header named, where the store can tell. */
      readonly namedCallId?: string | undefined;
      /** How many records were committed in this attempt at this moment: the ones that the call could see. */
      readonly recordsSeen: number;
    }
  /** A re-send: no intent of its own, it gets the reply of `callId`. */
  | { readonly kind: 'joined'; readonly callId: string }
  /** Schema 2: failure row `unresolved_parent` recorded under this call id, no intent; the call goes on as plain traffic. */
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'refused'; readonly code: AdmitRefusal };

export type AdmitRefusal =
  | 'attempt_closed'
  | 'attempt_retired'
  | 'attempt_incomplete'
  | 'too_many_calls'
  | 'unknown_parent'
  | 'ambiguous_candidate'
  | 'idempotency_key_reused'
  /** The same call id was admitted for other data: a defect of ours. */
  | 'duplicate_call';

export interface CommitRequest {
  readonly attempt: string;
  readonly callId: string;
  /** The CallRecord as the trainer will read it, byte for byte. */
  readonly recordJson: string;
  /** Fields of the record that the search needs. */
  readonly index: RecordIndex;
  /** JSON of one `why_root` entry, or null for a continuation. */
  readonly whyRootJson: string | null;
  /** JSON of the items that this call adds to its parent's (all of them for a root): see lineage/sketch. */
  readonly sketchJson: string;
  /** The engine's answer, token-free, kept for re-sends within `replies.keep_bytes` and `keep_s`; null: do not keep. */
  readonly replyJson: string | null;
}

export interface RecordIndex {
  readonly parentCallId: string | null;
  readonly responseId: string;
  readonly cumLen: number;
  readonly chainHash: string;
  readonly cumulativeHash: string;
  readonly stagingKey: string;
  readonly itemCount: number;
  readonly sourceDigest: string;
  readonly emptyToolContentDigest: string;
  readonly renderDigest: string;
  /** Non-null ids of its output items. */
  readonly outputIds: readonly string[];
  /** `lineage.reasoning: optional`: reasoning digests of the assistant items that this call adds to its parent's, its own last; else null. */
  readonly reasoning: readonly (string | null)[] | null;
}

export type CommitOutcome =
  | 'committed'
  | 'already_committed'
  /** Another record for this call exists, the intent was refused, or the record names a parent that was not admitted: nothing changed. */
  | 'conflict'
  /** No intent (retired, deleted, never admitted): dropped. */
  | 'dropped';

export type ReplyState =
  | { readonly kind: 'running' }
  | { readonly kind: 'finished'; readonly replyJson: string }
  /** The call failed or was refused; a re-send of it is a new call. */
  | { readonly kind: 'failed' }
  /** Nothing is kept any more. */
  | { readonly kind: 'gone' };

export interface Removal {
  /** Attempts that had rows or a fence for this operation to take away. */
  readonly removed: string[];
  readonly absent: string[];
}

export interface AttemptSnapshot {
  readonly state: 'open' | 'closed';
  readonly recordCount: number;
  /** In order of admission. */
  readonly attemptedCallIds: string[];
  /** Intents without a commit and not refused, same order. */
  readonly pendingCallIds: string[];
  readonly failures: { readonly callId: string; readonly reason: string }[];
  readonly refused: { readonly callId: string; readonly code: string }[];
  readonly whyRoot: { readonly callId: string; readonly json: string }[];
}

/** The attempted calls that a manifest lists: refused ones stand in none of its lists (protocol section 7), since nothing can have been staged for them. */
export function manifestedCalls({ attemptedCallIds, refused }: AttemptSnapshot): string[] {
  const settled = new Set(refused.map(({ callId }) => callId));
  return attemptedCallIds.filter((callId) => !settled.has(callId));
}

export interface StoredSketch {
  readonly callId: string;
  readonly parentCallId: string | null;
  readonly renderDigest: string;
  readonly sketchJson: string;
}

export interface AttemptOverview {
  readonly attempt: string;
  readonly state: 'open' | 'closed' | 'retired';
  readonly records: number;
  readonly pending: number;
  readonly failures: number;
  readonly refused: number;
  /** Seconds since the epoch of the latest admission or commit. */
  readonly lastActivityS: number;
}

export interface SweepReport {
  /** Replicas whose lease ran out. */
  readonly deadReplicas: string[];
  /** Failure rows added. */
  readonly settledCalls: number;
}

export interface LedgerGauges {
  readonly openAttempts: number;
  readonly pendingCalls: number;
  /** Admission time of the oldest pending call without a failure row, or null. */
  readonly oldestPendingS: number | null;
  readonly keptReplyBytes: number;
}

export interface LedgerCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** The store cannot be asked, or cannot promise durability. Nothing is known about whether the operation happened, unless it never left: it can be run again. */
export class LedgerUnavailable extends Error {
  /** False: nothing of the operation has left for the store, so it never happens. */
  readonly mayHappen: boolean;

  constructor(message: string, { mayHappen = true, ...options }: ErrorOptions & { readonly mayHappen?: boolean } = {}) {
    super(message, options);
    this.name = 'LedgerUnavailable';
    this.mayHappen = mayHappen;
  }
}
