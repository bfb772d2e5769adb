import type { OwnerKey } from '../protocol/wire/coordinates.ts';
import type { StagedRecord } from '../protocol/wire/ledger.ts';
import type { Admission } from './admission.ts';

/** `ng_commit_coords` as it goes over the wire (protocol section 6); the owner stands under its configured name. */
export interface WireCoordinates {
  readonly delta_len: number;
  readonly cum_len: number;
  readonly [field: string]: string | number | null;
}

/** Coordinates of a call that is stored. */
export function stagedCoordinates(ownerKey: OwnerKey, record: StagedRecord): WireCoordinates {
  return {
    schema_version: record.schema_version,
    digest_version: record.digest_version,
    extras_digest_version: record.extras_digest_version,
    [ownerKey]: record.capture_key,
    model_call_id: record.model_call_id,
    parent_call_id: record.parent_call_id,
    prev_len: record.prev_len,
    delta_len: record.delta_len,
    cum_len: record.cum_len,
    weight_version: record.weight_version,
    disposition: 'staged',
    digest: record.digest,
    extras_digest: record.extras_digest,
    chain_hash: record.chain_hash,
    cumulative_hash: record.cumulative_hash,
    staging_key: record.staging_key,
  };
}

/** Coordinates of a call that could not be stored. */
export function failedCoordinates(
  admission: Pick<Admission, 'schemaVersion' | 'ownerKey' | 'owner' | 'modelCallId'>,
  stored: { readonly parentCallId: string | null; readonly prevLen: number },
  weightVersion: number,
): WireCoordinates {
  return {
    schema_version: admission.schemaVersion,
    digest_version: 2,
    extras_digest_version: 1,
    [admission.ownerKey]: admission.owner,
    model_call_id: admission.modelCallId,
    parent_call_id: stored.parentCallId,
    prev_len: stored.prevLen,
    delta_len: 0,
    cum_len: stored.prevLen,
    weight_version: weightVersion,
    disposition: 'capture_failed',
    digest: null,
    extras_digest: null,
    chain_hash: null,
    cumulative_hash: null,
    staging_key: null,
  };
}
