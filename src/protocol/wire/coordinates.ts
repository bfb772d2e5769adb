import { z } from 'zod';
import { hex64, id, unsigned } from './primitives.ts';

/** `ng_commit_coords`, worker to proxy (protocol section 6). One schema per generation and owner key. */

const shared = {
  digest_version: z.literal(2),
  extras_digest_version: z.literal(1),
  model_call_id: id,
  parent_call_id: id.nullable(),
  prev_len: unsigned,
  weight_version: unsigned,
};

const staged = {
  ...shared,
  delta_len: unsigned.min(1),
  cum_len: unsigned,
  disposition: z.literal('staged'),
  digest: hex64,
  extras_digest: hex64,
  chain_hash: hex64,
  cumulative_hash: hex64,
  staging_key: id,
};

const failed = {
  ...shared,
  delta_len: z.literal(0),
  cum_len: unsigned,
  disposition: z.literal('capture_failed'),
  digest: z.null(),
  extras_digest: z.null(),
  chain_hash: z.null(),
  cumulative_hash: z.null(),
  staging_key: z.null(),
};

/** Coordinates with the owner's field taken out under its configured name. */
export interface StagedCoordinates {
  readonly disposition: 'staged';
  readonly owner: string;
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly prev_len: number;
  readonly delta_len: number;
  readonly cum_len: number;
  readonly weight_version: number;
  readonly digest: string;
  readonly extras_digest: string;
  readonly chain_hash: string;
  readonly cumulative_hash: string;
  readonly staging_key: string;
}

export interface FailedCoordinates {
  readonly disposition: 'capture_failed';
  readonly owner: string;
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly prev_len: number;
  readonly cum_len: number;
  readonly weight_version: number;
}

export type OwnerKey = 'capture_key' | 'rollout_id';

/** The strict schema of one generation: unknown fields, missing nulls and coerced types are refused. */
export function coordinatesSchema(schemaVersion: 2 | 3, ownerKey: OwnerKey) {
  const envelope = { schema_version: z.literal(schemaVersion), [ownerKey]: id };
  return z.discriminatedUnion('disposition', [
    z.strictObject({ ...envelope, ...staged }),
    z.strictObject({ ...envelope, ...failed }),
  ]);
}
