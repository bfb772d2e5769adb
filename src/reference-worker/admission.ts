import { admissionSchemaV2, admissionSchemaV3, type SourceMatchSpelling } from '../protocol/wire/admission.ts';
import type { OwnerKey } from '../protocol/wire/coordinates.ts';
import { stagingKey } from '../protocol/wire/primitives.ts';
import type { ReplaySummary, RequestReplay } from '../protocol/wire/replay.ts';
import { describeIssues } from './chat-body.ts';
import type { AdmissionEvidence } from './decide-capture-input.ts';

/** A valid `ng_capture`, with its configurable names taken out. Lengths in tokens. */
export interface Admission extends AdmissionEvidence {
  readonly schemaVersion: 2 | 3;
  readonly ownerKey: OwnerKey;
  readonly owner: string;
  readonly modelCallId: string;
  readonly prevLen: number;
  readonly parentChainHash: string | null;
  readonly stagingChain: readonly string[];
}

/** Which spellings of `ng_capture` this worker takes. */
export interface AdmissionSpelling {
  /** `auto`: the one that the admission uses; the acknowledgement repeats it. */
  readonly ownerKey: OwnerKey | 'auto';
  /** Null: this worker predates the statement and refuses it like any unknown field. */
  readonly sourceMatch: SourceMatchSpelling | null;
}

export type AdmissionOutcome =
  | { readonly kind: 'admission'; readonly admission: Admission }
  | { readonly kind: 'invalid'; readonly message: string };

/**
 * Reads `ng_capture` (protocol sections 4 and 13) as strictly as the peers' models do: schema 2 or 3 by its `schema_version`, no unknown fields, and parent,
 * `prev_len`, chain and hash together or not at all. Missing *evidence* is valid here; it is what the decision is about.
 */
export function readAdmission(value: unknown, spelling: AdmissionSpelling): AdmissionOutcome {
  const capture = typeof value === 'object' && value !== null ? value : {};
  const version = 'schema_version' in capture && capture.schema_version === 2 ? 2 : 3;
  const ownerKey = spelling.ownerKey === 'auto' ? ownerKeyOf(capture, version) : spelling.ownerKey;
  const schema = version === 3 ? admissionSchemaV3(ownerKey, spelling.sourceMatch) : admissionSchemaV2(ownerKey);
  const parsed = schema.safeParse(value);
  if (!parsed.success) return { kind: 'invalid', message: `ng_capture: ${describeIssues(parsed.error)}` };
  const admission = normalize(parsed.data as WireAdmission, version, ownerKey, spelling.sourceMatch);
  const problem = findContradiction(admission);
  return problem === null ? { kind: 'admission', admission } : { kind: 'invalid', message: `ng_capture: ${problem}` };
}

function ownerKeyOf(capture: object, version: 2 | 3): OwnerKey {
  if ('capture_key' in capture) return 'capture_key';
  if ('rollout_id' in capture) return 'rollout_id';
  return version === 3 ? 'capture_key' : 'rollout_id';
}

/** What the schemas guarantee; the owner and the statement stand under configured names. */
interface WireAdmission {
  readonly mode: 'candidate' | 'text' | 'token_in';
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly prev_len: number;
  readonly parent_chain_hash: string | null;
  readonly staging_chain: readonly string[];
  readonly request_replay?: RequestReplay | null;
  readonly candidate_replay?: ReplaySummary | null;
  readonly [configured: string]: unknown;
}

function normalize(
  wire: WireAdmission,
  schemaVersion: 2 | 3,
  ownerKey: OwnerKey,
  statement: SourceMatchSpelling | null,
): Admission {
  const said = statement === null ? undefined : wire[statement.name];
  const sourceMatch = said == null ? null : said === statement?.exact ? 'exact' : 'empty_tool_content';
  return {
    schemaVersion,
    ownerKey,
    owner: String(wire[ownerKey]),
    modelCallId: wire.model_call_id,
    mode: wire.mode,
    parentCallId: wire.parent_call_id,
    prevLen: wire.prev_len,
    parentChainHash: wire.parent_chain_hash,
    stagingChain: wire.staging_chain,
    requestReplay: wire.request_replay ?? null,
    candidateReplay: wire.candidate_replay ?? null,
    sourceMatch: statement === null ? 'not_spoken' : sourceMatch,
  };
}

function findContradiction(admission: Admission): string | null {
  const { owner, modelCallId, mode, parentCallId, prevLen, parentChainHash, stagingChain, candidateReplay } = admission;
  if (parentCallId === null) {
    if (mode === 'token_in') return 'mode token_in needs a parent';
    if (prevLen !== 0) return 'prev_len must be 0 without a parent';
    if (parentChainHash !== null) return 'parent_chain_hash must be null without a parent';
    if (stagingChain.length > 0) return 'staging_chain must be empty without a parent';
    if (candidateReplay !== null) return 'candidate_replay must be null without a parent';
    if (admission.sourceMatch === 'exact' || admission.sourceMatch === 'empty_tool_content') {
      return 'the source match statement must be null without a parent';
    }
    return null;
  }
  if (mode === 'text') return 'mode text must not have a parent';
  if (parentCallId === modelCallId) return 'a call cannot be its own parent';
  if (prevLen === 0) return 'prev_len must be above 0 with a parent';
  if (parentChainHash === null) return 'parent_chain_hash must be set with a parent';
  if (stagingChain.at(-1) !== stagingKey(owner, parentCallId))
    return "staging_chain must end with the parent's own key";
  if (new Set(stagingChain).size !== stagingChain.length) return 'staging_chain holds a key twice';
  if (stagingChain.some((key) => !key.startsWith(`${owner}/`))) return 'staging_chain holds a key of another attempt';
  return null;
}
