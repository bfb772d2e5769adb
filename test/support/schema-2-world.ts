import { stagedCallDigest } from '../../src/lineage/staged-digests.ts';
import type { World } from './trainer-world.ts';

const SCHEMA_3_ONLY = ['output_items', 'response_status', 'finish_reason', 'last_output_item', 'replay'];

/** The same calls as the released generation would have recorded and staged them (protocol section 13). */
export function toSchema2(world: World): World {
  const { manifest } = world.ledger;
  for (const record of manifest.records) {
    for (const name of SCHEMA_3_ONLY) delete (record as { [key: string]: unknown })[name];
    const staged = world.staged.get(record.staging_key) as never as StagedJson;
    const digest = stagedCallDigest({
      schemaVersion: 2,
      owner: staged.capture_key,
      modelCallId: staged.model_call_id,
      parentCallId: staged.parent_call_id,
      mode: staged.mode,
      prevLen: staged.prev_len,
      deltaLen: staged.delta_len,
      cumLen: staged.cum_len,
      weightVersion: staged.weight_version,
      tokenIds: staged.token_ids_delta,
      tokenMask: staged.token_mask_delta,
      logProbs: staged.generation_log_probs_delta,
      extrasDigest: staged.extras_digest,
      chainHash: staged.chain_hash,
      cumulativeHash: staged.cumulative_hash,
    });
    Object.assign(record, { schema_version: 2, fingerprint_version: 2, digest });
    const { capture_key: owner, ...rest } = staged;
    world.staged.set(record.staging_key, { ...rest, rollout_id: owner, schema_version: 2, digest });
  }
  const {
    schema_version: _,
    capture_key: owner,
    attempted_call_ids: attempted,
    pending_call_ids: pending,
    ...rest
  } = manifest as never as ManifestJson;
  Object.assign(world.ledger, {
    manifest: { schema_version: 2, rollout_id: owner, ...rest },
    attempted_call_ids: attempted,
    pending_call_ids: pending,
  });
  return world;
}

interface ManifestJson {
  readonly schema_version: number;
  readonly capture_key: string;
  readonly attempted_call_ids: readonly string[];
  readonly pending_call_ids: readonly string[];
}

interface StagedJson {
  readonly capture_key: string;
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly mode: string;
  readonly prev_len: number;
  readonly delta_len: number;
  readonly cum_len: number;
  readonly weight_version: number;
  readonly token_ids_delta: readonly number[];
  readonly token_mask_delta: readonly number[];
  readonly generation_log_probs_delta: readonly number[];
  readonly extras_digest: string;
  readonly chain_hash: string;
  readonly cumulative_hash: string;
}
