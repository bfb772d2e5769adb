import { assistantFingerprint } from '../lineage/fingerprints.ts';
import { outputItemFingerprint } from '../lineage/output-items.ts';
import { prefixSummary } from '../lineage/prefix-summary.ts';
import { chainHash, cumulativeHash, extrasDigest, stagedCallDigest } from '../lineage/staged-digests.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../protocol/json/parse-json.ts';
import type { CallRecordV3 } from '../protocol/wire/ledger.ts';
import { stagingKey } from '../protocol/wire/primitives.ts';
import type { LedgerView } from './ledger-view.ts';
import { MemoryStagedStore } from './staged/memory-store.ts';

/** One call of an episode that generates in this process. */
export interface DirectCall {
  /** Default: `c1`, `c2`, ... */
  readonly callId?: string | undefined;
  /** The call that this one continues with its exact tokens; null or absent: a root. */
  readonly parent?: CallRecordV3 | null | undefined;
  /** What is new in the prompt, behind the parent's tokens. */
  readonly newPromptTokens: readonly number[];
  readonly generatedTokens: readonly number[];
  /** Of the generated tokens, one each. */
  readonly logprobs: readonly number[];
  readonly weightVersion: number;
  /** The answer as output items (messages, reasoning, function calls), as the episode returns them. */
  readonly output: readonly unknown[];
  /** Default: `resp_<call>`. */
  readonly responseId?: string | undefined;
  /** Default: `completed`, `stop`. */
  readonly status?: string | null | undefined;
  readonly finishReason?: string | null | undefined;
  /** JSON value that is committed to beside the tokens. */
  readonly extras?: unknown;
}

/**
 * Feeds the kit without agent, proxy or worker: an episode that generates in this process tells its calls, and gets a ledger and a staged store that
 * are checked like any others. Records say nothing of the request's history, which only the proxy's search needs.
 */
export class DirectCapture {
  readonly attempt: string;
  readonly staged = new MemoryStagedStore();
  private readonly records: CallRecordV3[] = [];
  private readonly tokens = new Map<string, readonly number[]>();

  constructor(attempt: string) {
    this.attempt = attempt;
  }

  /** Records one call. Throws where the parent is no call of this episode, or lists do not fit. */
  call(call: DirectCall): CallRecordV3 {
    const { newPromptTokens, generatedTokens, logprobs } = call;
    if (logprobs.length !== generatedTokens.length) throw new Error('every generated token needs one log probability');
    const callId = call.callId ?? `c${this.records.length + 1}`;
    if (this.tokens.has(callId)) throw new Error(`call ${callId} was recorded before`);
    const parent = call.parent ?? null;
    const prefix = parent === null ? [] : this.tokens.get(parent.model_call_id);
    if (prefix === undefined) throw new Error(`the parent ${parent?.model_call_id} is no call of this episode`);

    const delta = [...newPromptTokens, ...generatedTokens];
    const all = [...prefix, ...delta];
    const zeros = newPromptTokens.map(() => 0);
    const extras = call.extras === undefined ? null : readJson(JSON.stringify(call.extras));
    const extrasHex = extrasDigest(extras);
    if (extrasHex === null) throw new Error('the extras have no digest');
    const coordinates = {
      model_call_id: callId,
      parent_call_id: parent?.model_call_id ?? null,
      mode: parent === null ? ('text' as const) : ('token_in' as const),
      prev_len: prefix.length,
      delta_len: delta.length,
      cum_len: all.length,
      weight_version: call.weightVersion,
      extras_digest: extrasHex,
      chain_hash: chainHash(parent?.chain_hash ?? null, delta),
      cumulative_hash: cumulativeHash(all),
      staging_key: stagingKey(this.attempt, callId),
    };
    const lists = {
      token_ids_delta: delta,
      token_mask_delta: [...zeros, ...generatedTokens.map(() => 1)],
      // JSON of JavaScript has no -0, and the digest tells it from 0.
      generation_log_probs_delta: [...zeros, ...logprobs.map((value) => value + 0)],
    };
    const digest = stagedCallDigest({
      schemaVersion: 3,
      owner: this.attempt,
      modelCallId: callId,
      parentCallId: coordinates.parent_call_id,
      mode: coordinates.mode,
      prevLen: coordinates.prev_len,
      deltaLen: coordinates.delta_len,
      cumLen: coordinates.cum_len,
      weightVersion: coordinates.weight_version,
      tokenIds: lists.token_ids_delta,
      tokenMask: lists.token_mask_delta,
      logProbs: lists.generation_log_probs_delta,
      extrasDigest: extrasHex,
      chainHash: coordinates.chain_hash,
      cumulativeHash: coordinates.cumulative_hash,
    });
    const versions = { schema_version: 3 as const, digest_version: 2 as const, extras_digest_version: 1 as const };
    const staged = {
      ...versions,
      capture_key: this.attempt,
      ...coordinates,
      ...lists,
      digest,
      extras: call.extras ?? null,
    };
    this.staged.put(coordinates.staging_key, JSON.stringify(staged));
    this.tokens.set(callId, all);
    const record: CallRecordV3 = { ...versions, ...coordinates, digest, ...this.describe(call, callId) };
    this.records.push(record);
    return record;
  }

  /** The ledger of the episode so far: closed, nothing pending. */
  ledger(): LedgerView {
    return {
      attempt: this.attempt,
      schemaVersion: 3,
      state: 'closed',
      records: [...this.records],
      failures: [],
      attemptedCallIds: this.records.map((record) => record.model_call_id),
      pendingCallIds: [],
      refusedCalls: [],
      whyRoot: {},
    };
  }

  /** What the record says of the answer (protocol section 7). */
  private describe(call: DirectCall, callId: string) {
    const items = call.output.map((item) => readJson(JSON.stringify(item)));
    const rows = items.map((item) => ({
      schema_version: 3 as const,
      id: item.get('id')?.string() ?? null,
      fingerprint: outputItemFingerprint(item),
    }));
    const { itemCount, sourceDigest, emptyToolContentDigest } = prefixSummary([]);
    return {
      response_id: call.responseId ?? `resp_${callId}`,
      admitted_at: this.records.length,
      output_items: rows.every((row) => row.fingerprint !== null) ? (rows as CallRecordV3['output_items']) : null,
      output_fingerprint: assistantFingerprint(items),
      continuation_fingerprint: null,
      fingerprint_version: 3 as const,
      response_status: call.status === undefined ? 'completed' : call.status,
      finish_reason: call.finishReason === undefined ? 'stop' : call.finishReason,
      last_output_item: null,
      replay: {
        schema_version: 3 as const,
        normalization_version: 1 as const,
        item_count: itemCount,
        source_digest: sourceDigest,
        empty_tool_content_digest: emptyToolContentDigest,
        render_digest: null,
      },
    };
  }
}

function readJson(text: string): JsonNode {
  const node = parseJsonText(text);
  if (isJsonProblem(node)) throw new Error(`this is no JSON: ${node.problem}`);
  return node;
}
