import type { AdmitRequest, Candidate } from '../../ledger/ledger.ts';
import type { EvidenceItem, PrefixSummary } from '../../lineage/types.ts';
import type { JsonFragments } from '../../protocol/json/fragment.ts';
import type { StagedCoordinates } from '../../protocol/wire/coordinates.ts';
import type { FailureReason, LastOutputItem, OutputItemRow } from '../../protocol/wire/ledger.ts';

/** What the upstream body says about an admitted call. */
export interface Admission {
  readonly attempt: string;
  readonly callId: string;
  readonly candidate: Candidate | null;
  readonly items: readonly EvidenceItem[];
  readonly renderDigest: string;
}

/** What the worker's coordinates came to. */
export type Verdict =
  | { readonly kind: 'staged'; readonly coordinates: StagedCoordinates }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly detail: string };

/** Everything that a CallRecord says beside the coordinates. */
export interface RecordFacts {
  readonly coordinates: StagedCoordinates;
  readonly responseId: string;
  readonly admittedAtS: number;
  readonly outputItems: readonly OutputItemRow[] | null;
  readonly outputFingerprint: string | null;
  readonly continuationFingerprint: string | null;
  readonly responseStatus: string | null;
  readonly finishReason: string | null;
  readonly lastOutputItem: LastOutputItem | null;
  readonly replay: PrefixSummary;
  readonly renderDigest: string;
}

/** Everything that a manifest says beside its records. */
export interface ManifestHead {
  readonly closed: boolean;
  readonly attemptedCallIds: readonly string[];
  readonly pendingCallIds: readonly string[];
  readonly failures: readonly { readonly callId: string; readonly reason: string }[];
}

/**
 * A generation of the protocol: schema 3 (the proxy proposes, the worker decides) or schema 2 (the proxy decides, the worker obeys; section 13). Chosen once at
 * start; no step asks which one it is. Everything that is not named here is shared.
 */
export interface CaptureStrategy {
  readonly schemaVersion: 2 | 3;
  readonly ownerKey: 'capture_key' | 'rollout_id';
  readonly fingerprintVersion: 2 | 3;
  /** Whether the agent gets the engine's answer where capture failed (only the rollout is lost), or an error. */
  readonly servesWhenCaptureFails: boolean;
  /** What the ledger does where no candidate, or more than one, is found. `hasAssistant`: the request holds an assistant turn. */
  unmatched(hasAssistant: boolean): Pick<AdmitRequest, 'onAmbiguous' | 'onUnmatched'>;
  /** Top-level members that the upstream body gets, as JSON text by name (section 4). */
  upstreamFields(admission: Admission): [name: string, json: JsonFragments][];
  /** Judges `ng_commit_coords` (section 6). `value` is the parsed property. */
  judge(value: unknown, admission: Admission): Verdict;
  /** The CallRecord as the trainer will read it (section 7). */
  recordJson(facts: RecordFacts): string;
  /** The manifest's JSON text up to the list of records, and from its end on (section 7); the records' own texts stand between, joined by commas. */
  manifestBefore(attempt: string): string;
  manifestAfter(head: ManifestHead): string;
  /** Members of our own envelope for what this generation's manifest has no place for: `,"name":value` or nothing. */
  besideManifest(head: ManifestHead): string;
}
