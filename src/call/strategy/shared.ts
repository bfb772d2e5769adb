import { pythonFloat } from '../../lineage/canonical-json.ts';
import type { JsonFragment, JsonFragments } from '../../protocol/json/fragment.ts';
import { coordinatesReader, type OwnerKey, type StagedCoordinates } from '../../protocol/wire/coordinates.ts';
import { stagingKey } from '../../protocol/wire/primitives.ts';
import type { Admission, RecordFacts, Verdict } from './strategy.ts';

/** Parts of the two generations that are the same. */

export function invalid(detail: string): Verdict {
  return { kind: 'failed', reason: 'invalid_worker_commit_coordinates', detail };
}

/**
 * Checks the shape of coordinates and that they are about this call (section 6): owner, call id, staging key, sums, parent and `prev_len` together.
 * Which parent is acceptable is the generation's own matter.
 */
export function coordinatesJudge(schemaVersion: 2 | 3, ownerKey: OwnerKey) {
  const read = coordinatesReader(schemaVersion, ownerKey);
  return (value: unknown, admission: Admission, acceptsParent: (c: StagedCoordinates) => boolean): Verdict => {
    const coordinates = read(value);
    if ('problem' in coordinates) return invalid(coordinates.problem);
    if (coordinates.owner !== admission.attempt) return invalid('the coordinates belong to another attempt');
    if (coordinates.model_call_id !== admission.callId) return invalid('the coordinates belong to another call');
    if ((coordinates.parent_call_id === null) !== (coordinates.prev_len === 0))
      return invalid('parent and prev_len disagree');
    if (coordinates.disposition === 'capture_failed') {
      if (coordinates.cum_len !== coordinates.prev_len) return invalid('cum_len of a failed capture is not prev_len');
      return { kind: 'failed', reason: 'worker_capture_failed', detail: 'the worker could not store the tokens' };
    }
    if (coordinates.cum_len !== coordinates.prev_len + coordinates.delta_len)
      return invalid('cum_len is not prev_len + delta_len');
    if (coordinates.staging_key !== stagingKey(admission.attempt, admission.callId))
      return invalid('the staging key is not the call’s');
    if (!acceptsParent(coordinates)) return invalid('the stored parent is not the proposed one');
    return { kind: 'staged', coordinates };
  };
}

/** True if the coordinates name the admitted parent with the admitted `prev_len`. */
export function isAdmittedParent(coordinates: StagedCoordinates, admission: Admission): boolean {
  return (
    coordinates.parent_call_id === (admission.candidate?.callId ?? null) &&
    coordinates.prev_len === (admission.candidate?.cumLen ?? 0)
  );
}

/** Members of `ng_capture` that both generations have, after `schema_version`, owner and call id. */
export function admissionMembers(admission: Admission) {
  return {
    parent_call_id: admission.candidate?.callId ?? null,
    prev_len: admission.candidate?.cumLen ?? 0,
    parent_chain_hash: admission.candidate?.chainHash ?? null,
    staging_chain: admission.candidate?.stagingChain ?? [],
    required_prefix_token_ids: [],
  };
}

/** Members of the upstream body that make the worker report what capture needs (section 4); `ng_capture` in its place for the kind of worker. */
export function upstreamMembers(
  workerKind: 'vllm' | 'megatron',
  capture: readonly JsonFragment[],
): [string, JsonFragments][] {
  const asked: [string, JsonFragments][] = [
    ['logprobs', 'true'],
    ['top_logprobs', '0'],
  ];
  return workerKind === 'megatron'
    ? [...asked, ['offload_params', ['{"ng_capture":', ...capture, '}']]]
    : [...asked, ['return_tokens_as_token_ids', 'true'], ['ng_capture', capture]];
}

/** Members of a CallRecord that both generations have; `admitted_at` prints with a decimal point. */
export function recordMembers(facts: RecordFacts): string {
  const { coordinates } = facts;
  const members = {
    digest_version: 2,
    extras_digest_version: 1,
    model_call_id: coordinates.model_call_id,
    parent_call_id: coordinates.parent_call_id,
    prev_len: coordinates.prev_len,
    delta_len: coordinates.delta_len,
    cum_len: coordinates.cum_len,
    weight_version: coordinates.weight_version,
    digest: coordinates.digest,
    extras_digest: coordinates.extras_digest,
    staging_key: coordinates.staging_key,
    chain_hash: coordinates.chain_hash,
    cumulative_hash: coordinates.cumulative_hash,
    mode: coordinates.parent_call_id === null ? 'text' : 'token_in',
    response_id: facts.responseId,
    output_fingerprint: facts.outputFingerprint,
    continuation_fingerprint: facts.continuationFingerprint,
  };
  return `${JSON.stringify(members).slice(1, -1)},"admitted_at":${pythonFloat(facts.admittedAtS)}`;
}

export function failureRows(schemaVersion: 2 | 3, failures: readonly { callId: string; reason: string }[]): string {
  return JSON.stringify(
    failures.map(({ callId, reason }) => ({ schema_version: schemaVersion, model_call_id: callId, reason })),
  );
}
