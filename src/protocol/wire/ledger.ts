import { z } from 'zod';
import type { OwnerKey } from './coordinates.ts';
import { hex64, id, unsigned } from './primitives.ts';
import { replaySummary } from './replay.ts';

/** CallRecord, RolloutManifest and the ledger envelope (protocol sections 7 and 13). */

export const FAILURE_REASONS = [
  'request_finished_without_staged_coordinates',
  'worker_response_missing_commit_coordinates',
  'invalid_worker_commit_coordinates',
  'worker_capture_failed',
  'unresolved_parent',
  'ledger_row_missing_response_id',
  'ledger_row_missing_chain_hash',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export const outputItemRow = z.strictObject({
  schema_version: z.literal(3),
  id: z.string().nullable(),
  fingerprint: hex64,
});
export type OutputItemRow = z.infer<typeof outputItemRow>;

const lastOutputItem = z.strictObject({
  type: z.string().optional(),
  content: z.array(z.strictObject({ text: z.string().optional() })).optional(),
  summary: z.array(z.strictObject({ text: z.string().optional() })).optional(),
});
export type LastOutputItem = z.infer<typeof lastOutputItem>;

const callRecordShared = {
  digest_version: z.literal(2),
  extras_digest_version: z.literal(1),
  model_call_id: id,
  parent_call_id: id.nullable(),
  prev_len: unsigned,
  delta_len: unsigned.min(1),
  cum_len: unsigned,
  weight_version: unsigned,
  digest: hex64,
  extras_digest: hex64,
  staging_key: id,
  chain_hash: hex64,
  cumulative_hash: hex64,
  mode: z.enum(['text', 'token_in']),
  response_id: id,
  admitted_at: z.number(),
  output_fingerprint: hex64.nullable(),
  continuation_fingerprint: hex64.nullable(),
};

export const callRecordV3 = z.strictObject({
  schema_version: z.literal(3),
  ...callRecordShared,
  output_items: z.array(outputItemRow).nullable(),
  fingerprint_version: z.literal(3),
  response_status: z.string().nullable(),
  finish_reason: z.string().nullable(),
  last_output_item: lastOutputItem.nullable(),
  replay: replaySummary,
});
export type CallRecordV3 = z.infer<typeof callRecordV3>;

export const callRecordV2 = z.strictObject({
  schema_version: z.literal(2),
  ...callRecordShared,
  fingerprint_version: z.literal(2),
});
export type CallRecordV2 = z.infer<typeof callRecordV2>;

export type CallRecord = CallRecordV3 | CallRecordV2;

/** CallRecord of one generation. */
export function callRecordSchema(schemaVersion: 2 | 3) {
  return schemaVersion === 3 ? callRecordV3 : callRecordV2;
}

export function failureRow(schemaVersion: 2 | 3) {
  return z.strictObject({ schema_version: z.literal(schemaVersion), model_call_id: id, reason: z.string() });
}
export interface FailureRow {
  readonly schema_version: 2 | 3;
  readonly model_call_id: string;
  readonly reason: string;
}

/** RolloutManifest of schema 3. */
export function manifestSchemaV3(ownerKey: OwnerKey) {
  return z.strictObject({
    schema_version: z.literal(3),
    [ownerKey]: id,
    records: z.array(callRecordV3),
    failures: z.array(failureRow(3)),
    attempted_call_ids: z.array(id),
    pending_call_ids: z.array(id),
  });
}

/** RolloutManifest of schema 2: nothing else. */
export function manifestSchemaV2(ownerKey: OwnerKey) {
  return z.strictObject({
    schema_version: z.literal(2),
    [ownerKey]: id,
    records: z.array(callRecordV2),
    failures: z.array(failureRow(2)),
  });
}

export const ROOT_CAUSES = [
  'first_call',
  'history_differs',
  'render_differs',
  'suffix_role',
  'parent_header',
  'rooted_by_worker',
  'ambiguous',
] as const;
export type RootCause = (typeof ROOT_CAUSES)[number];

/** Why a recorded root is a root: for people, never content (section 7). */
export const whyRoot = z.looseObject({ cause: z.enum(ROOT_CAUSES) });
export type WhyRoot = z.infer<typeof whyRoot>;

/** `GET /ledger/<attempt>` (ours). */
export function ledgerSchema(schemaVersion: 2 | 3, ownerKey: OwnerKey) {
  return z.strictObject({
    attempt: id,
    state: z.enum(['open', 'closed']),
    complete: z.boolean(),
    manifest: schemaVersion === 3 ? manifestSchemaV3(ownerKey) : manifestSchemaV2(ownerKey),
    /** Schema 2 only has no place for these in its manifest; they stand here in both generations. */
    attempted_call_ids: z.array(id).optional(),
    pending_call_ids: z.array(id).optional(),
    refused: z.array(z.strictObject({ model_call_id: id, code: z.string() })),
    why_root: z.record(id, whyRoot),
  });
}

/** A staged record as TransferQueue holds it (sections 10, 11 "Shapes"): `worked_example` of the vectors plus `extras`. */
export const stagedRecord = z.strictObject({
  schema_version: z.union([z.literal(2), z.literal(3)]),
  digest_version: z.literal(2),
  extras_digest_version: z.literal(1),
  capture_key: id,
  model_call_id: id,
  parent_call_id: id.nullable(),
  mode: z.enum(['text', 'token_in']),
  prev_len: unsigned,
  delta_len: unsigned.min(1),
  cum_len: unsigned,
  weight_version: unsigned,
  token_ids_delta: z.array(unsigned),
  token_mask_delta: z.array(z.number()),
  generation_log_probs_delta: z.array(z.number()),
  extras_digest: hex64,
  chain_hash: hex64,
  cumulative_hash: hex64,
  digest: hex64,
  staging_key: id,
  extras: z.unknown(),
});
export type StagedRecord = z.infer<typeof stagedRecord>;
