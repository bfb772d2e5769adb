import { chainHash, cumulativeHash, extrasDigest, stagedCallDigest } from '../lineage/staged-digests.ts';
import type { CallRecord } from '../protocol/wire/ledger.ts';
import type { ForestNode } from './forest.ts';
import { checkMediaSpans } from './media-spans.ts';
import { type Reason, type ReasonCode, reason } from './reasons.ts';
import type { StagedCall } from './staged/staged-call.ts';

/**
 * Verifies the staged record of one selected call against its ledger record and against itself (protocol sections 10 and 11): every field that both
 * have, lengths, mask, extras, media occurrences, and all hashes recomputed. `tokens`: all tokens of the row up to the end of this call.
 * Returns every reason that it finds; none means that each token is the one that the worker acknowledged.
 */
export function verifyStaged(
  attempt: string,
  node: ForestNode,
  staged: StagedCall,
  tokens: readonly number[],
): Reason[] {
  const { record } = node;
  const callId = record.model_call_id;
  const reasons: Reason[] = [];
  const add = (code: ReasonCode, why: string) => reasons.push(reason(code, `call ${callId}: ${why}`, { callId }));
  const same = (code: ReasonCode, name: string, ledger: unknown, found: unknown) => {
    if (ledger !== found)
      add(code, `${name} is ${String(ledger)} in the ledger and ${String(found)} in the staged record`);
  };

  same('version_mismatch', 'schema_version', record.schema_version, staged.schemaVersion ?? record.schema_version);
  same('version_mismatch', 'digest_version', record.digest_version, staged.digestVersion ?? record.digest_version);
  same(
    'version_mismatch',
    'extras_digest_version',
    record.extras_digest_version,
    staged.extrasDigestVersion ?? record.extras_digest_version,
  );
  same('foreign_owner', 'the owner', attempt, staged.owner);
  same('call_id_mismatch', 'model_call_id', callId, staged.callId);
  same('staging_key_mismatch', 'staging_key', record.staging_key, staged.stagingKey);
  same('parent_mismatch', 'parent_call_id', record.parent_call_id, staged.parentCallId);
  same('mode_mismatch', 'mode', record.mode, staged.mode);
  same('length_mismatch', 'prev_len', record.prev_len, staged.prevLen);
  same('length_mismatch', 'delta_len', record.delta_len, staged.deltaLen);
  same('length_mismatch', 'cum_len', record.cum_len, staged.cumLen);
  same('weight_version_mismatch', 'weight_version', record.weight_version, staged.weightVersion);
  checkLists(staged, add);
  const newPrompt = newPromptTokens(staged.tokenMask);
  if (newPrompt === null) add('mask_invalid', 'the mask is not zeros followed by at least one one');
  const media = checkMediaSpans(staged.extras, newPrompt ?? 0);
  if (media !== null) add('media_span_invalid', media);
  checkHashes(node, staged, tokens, add);
  return reasons;
}

/** How many leading tokens of a delta are new context; null where the mask is not zeros followed by at least one one. */
export function newPromptTokens(mask: readonly number[]): number | null {
  let zeros = 0;
  while (zeros < mask.length && mask[zeros] === 0) zeros++;
  for (let at = zeros; at < mask.length; at++) if (mask[at] !== 1) return null;
  return zeros < mask.length ? zeros : null;
}

type Add = (code: ReasonCode, why: string) => void;

function checkLists(staged: StagedCall, add: Add): void {
  const lists = {
    token_ids_delta: staged.tokenIds,
    token_mask_delta: staged.tokenMask,
    generation_log_probs_delta: staged.logprobs,
  };
  for (const [name, list] of Object.entries(lists)) {
    if (list.length !== staged.deltaLen)
      add('length_mismatch', `${name} has ${list.length} entries, delta_len is ${staged.deltaLen}`);
  }
  if (staged.prevLen + staged.deltaLen !== staged.cumLen) {
    add(
      'length_mismatch',
      `staged prev_len ${staged.prevLen} + delta_len ${staged.deltaLen} is not cum_len ${staged.cumLen}`,
    );
  }
}

function checkHashes(node: ForestNode, staged: StagedCall, tokens: readonly number[], add: Add): void {
  const { record, storedParent } = node;
  const agree = (code: ReasonCode, name: string, ledger: string, found: string, computed: string | null) => {
    if (ledger === found && found === computed) return;
    const why = ledger !== found ? 'differs between ledger and staged record' : 'is not what its content gives';
    add(code, `${name} ${why}`);
  };
  const extras = extrasDigest(staged.extras);
  agree('extras_digest_mismatch', 'extras_digest', record.extras_digest, staged.extrasDigest, extras);
  const chain = chainHash(storedParent?.chain_hash ?? null, staged.tokenIds);
  agree('chain_hash_mismatch', 'chain_hash', record.chain_hash, staged.chainHash, chain);
  agree(
    'cumulative_hash_mismatch',
    'cumulative_hash',
    record.cumulative_hash,
    staged.cumulativeHash,
    cumulativeHash(tokens),
  );
  agree('digest_mismatch', 'digest', record.digest, staged.digest, digestOf(record, staged));
}

/** The digest of what was staged, as the staged record tells it. */
function digestOf(record: CallRecord, staged: StagedCall): string {
  return stagedCallDigest({
    schemaVersion: record.schema_version,
    owner: staged.owner,
    modelCallId: staged.callId,
    parentCallId: staged.parentCallId,
    mode: staged.mode,
    prevLen: staged.prevLen,
    deltaLen: staged.deltaLen,
    cumLen: staged.cumLen,
    weightVersion: staged.weightVersion,
    tokenIds: staged.tokenIds,
    tokenMask: staged.tokenMask,
    logProbs: staged.logprobs,
    extrasDigest: staged.extrasDigest,
    chainHash: staged.chainHash,
    cumulativeHash: staged.cumulativeHash,
  });
}
