import { chainHash, cumulativeHash, extrasDigest, stagedCallDigest } from '../lineage/staged-digests.ts';
import { isJsonProblem, parseJsonText } from '../protocol/json/parse-json.ts';
import type { StagedRecord } from '../protocol/wire/ledger.ts';
import { stagingKey } from '../protocol/wire/primitives.ts';

/** What is known of a call when it is staged. The three lists belong to the delta and are equally long. */
export interface StagedCallInput {
  readonly schemaVersion: 2 | 3;
  readonly owner: string;
  readonly modelCallId: string;
  readonly parentCallId: string | null;
  readonly parentChainHash: string | null;
  readonly prevLen: number;
  readonly weightVersion: number;
  /** All tokens of the call, the parent's too. */
  readonly tokens: readonly number[];
  readonly delta: number[];
  readonly masks: number[];
  readonly logprobs: number[];
  /** Any JSON value. */
  readonly extras: unknown;
}

/** The staged record with all its digests (protocol sections 10 and 11 "Shapes"). */
export function buildStagedRecord(call: StagedCallInput): StagedRecord {
  const { schemaVersion, owner, modelCallId, parentCallId, prevLen, weightVersion } = call;
  const mode = parentCallId === null ? 'text' : 'token_in';
  const hashes = {
    extrasDigest: digestOfExtras(call.extras),
    chainHash: chainHash(call.parentChainHash, call.delta),
    cumulativeHash: cumulativeHash(call.tokens),
  };
  const lengths = { prevLen, deltaLen: call.delta.length, cumLen: prevLen + call.delta.length };
  const digest = stagedCallDigest({
    schemaVersion,
    owner,
    modelCallId,
    parentCallId,
    mode,
    weightVersion,
    ...lengths,
    ...hashes,
    tokenIds: call.delta,
    tokenMask: call.masks,
    logProbs: call.logprobs,
  });
  return {
    schema_version: schemaVersion,
    digest_version: 2,
    extras_digest_version: 1,
    capture_key: owner,
    model_call_id: modelCallId,
    parent_call_id: parentCallId,
    mode,
    prev_len: lengths.prevLen,
    delta_len: lengths.deltaLen,
    cum_len: lengths.cumLen,
    weight_version: weightVersion,
    token_ids_delta: call.delta,
    token_mask_delta: call.masks,
    generation_log_probs_delta: call.logprobs,
    extras_digest: hashes.extrasDigest,
    chain_hash: hashes.chainHash,
    cumulative_hash: hashes.cumulativeHash,
    digest,
    staging_key: stagingKey(owner, modelCallId),
    extras: call.extras,
  };
}

const DIGEST_OF_NULL = extrasDigest(null);

function digestOfExtras(extras: unknown): string {
  const node = extras === null ? null : parseJsonText(JSON.stringify(extras));
  const digest = node === null ? DIGEST_OF_NULL : isJsonProblem(node) ? null : extrasDigest(node);
  if (digest === null) throw new RangeError('the extras have no digest');
  return digest;
}
