import { sha256Hex } from '../../src/lineage/digest.ts';
import { prefixSummary } from '../../src/lineage/prefix-summary.ts';
import type { ReplayItem, ReplaySummary } from '../../src/protocol/wire/replay.ts';
import type { ReferenceWorkerOptions } from '../../src/reference-worker/options.ts';
import { type RunningReferenceWorker, startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';

/** Proposals and calls as a proxy would make them, written by hand: what tests of the worker's side post. */

export interface HandMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: unknown;
  readonly [field: string]: unknown;
}

export const RENDER_DIGEST = sha256Hex('render');

/** One item per message. The digest is of the message's own JSON: the worker treats digests as opaque. */
export function evidenceOf(messages: readonly HandMessage[]): ReplayItem[] {
  return messages.map((message) => {
    const isEmptyCall = message.role === 'assistant' && 'tool_calls' in message && (message.content ?? '') === '';
    return {
      schema_version: 3,
      role: message.role,
      digest: sha256Hex(JSON.stringify(message)),
      empty_tool_content_digest: isEmptyCall ? sha256Hex(JSON.stringify({ ...message, content: '' })) : null,
    };
  });
}

export function summaryOf(items: readonly ReplayItem[], renderDigest: string | null = RENDER_DIGEST): ReplaySummary {
  const summary = prefixSummary(
    items.map((item) => ({ ...item, emptyToolContentDigest: item.empty_tool_content_digest })),
  );
  return {
    schema_version: 3,
    normalization_version: 1,
    item_count: summary.itemCount,
    source_digest: summary.sourceDigest,
    empty_tool_content_digest: summary.emptyToolContentDigest,
    render_digest: renderDigest,
  };
}

/** A call that was answered: what a later call needs to name it as its parent. */
export interface AnsweredCall {
  /** The request's messages and the answer. */
  readonly history: readonly HandMessage[];
  readonly coordinates: Record<string, unknown> & { readonly cum_len: number; readonly chain_hash: string };
  /** Staging keys of its ancestry, its own last. */
  readonly chain: readonly string[];
  readonly completion: Record<string, unknown>;
}

export interface HandCall {
  readonly owner: string;
  readonly callId: string;
  readonly messages: readonly HandMessage[];
  readonly parent?: AnsweredCall | null;
  readonly schema?: 2 | 3;
}

/** The admission of a call under its generation's usual names. */
export function admissionOf(call: HandCall): Record<string, unknown> {
  const { owner, callId, messages, parent = null, schema = 3 } = call;
  const shared = {
    schema_version: schema,
    model_call_id: callId,
    parent_call_id: parent?.coordinates.model_call_id ?? null,
    prev_len: parent?.coordinates.cum_len ?? 0,
    parent_chain_hash: parent?.coordinates.chain_hash ?? null,
    staging_chain: parent?.chain ?? [],
    required_prefix_token_ids: [],
  };
  if (schema === 2) return { ...shared, rollout_id: owner, mode: parent === null ? 'text' : 'token_in' };
  return {
    ...shared,
    capture_key: owner,
    mode: 'candidate',
    request_replay: {
      schema_version: 3,
      normalization_version: 1,
      items: evidenceOf(messages),
      render_digest: RENDER_DIGEST,
    },
    candidate_replay: parent === null ? null : summaryOf(evidenceOf(parent.history)),
    source_match: parent === null ? null : 'exact',
  };
}

/** The whole upstream body of a captured call. */
export function bodyOf(call: HandCall): Record<string, unknown> {
  return {
    model: 'policy',
    messages: call.messages,
    stream: false,
    logprobs: true,
    top_logprobs: 0,
    return_tokens_as_token_ids: true,
    ...(call.schema === 2 && call.parent != null ? { required_prefix_token_ids: [] } : {}),
    ng_capture: admissionOf(call),
  };
}

export async function postJson(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Posts a captured call and reads its answer; throws if it is not one with staged coordinates. */
export async function answerCall(url: string, call: HandCall): Promise<AnsweredCall> {
  const response = await postJson(`${url}/v1/chat/completions`, bodyOf(call));
  const completion = (await response.json()) as Record<string, unknown>;
  const coordinates = completion.ng_commit_coords as AnsweredCall['coordinates'] | undefined;
  if (response.status !== 200 || coordinates === undefined) throw new Error(JSON.stringify(completion));
  const [choice] = completion.choices as { message: HandMessage }[];
  if (choice === undefined) throw new Error('the completion has no choice');
  const { role, content, tool_calls, reasoning } = choice.message;
  const turn = {
    role,
    content,
    ...(reasoning == null ? {} : { reasoning }),
    ...(Array.isArray(tool_calls) && tool_calls.length > 0 ? { tool_calls } : {}),
  };
  const isRoot = coordinates.parent_call_id === null;
  return {
    history: [...call.messages, turn],
    coordinates,
    chain: [...(isRoot ? [] : (call.parent?.chain ?? [])), String(coordinates.staging_key)],
    completion,
  };
}

export function user(content: unknown): HandMessage {
  return { role: 'user', content };
}

export type JsonObject = Record<string, unknown>;

/** Posts any body as a chat completion. */
export async function postChat(
  url: string,
  body: unknown,
): Promise<{ status: number; body: JsonObject; headers: Headers }> {
  const response = await postJson(`${url}/v1/chat/completions`, body);
  return { status: response.status, body: (await response.json()) as JsonObject, headers: response.headers };
}

/** The engine's error object. */
export function errorOf(body: JsonObject): { message: string; type: string; param: string | null; code: number } {
  return body.error as { message: string; type: string; param: string | null; code: number };
}

/** Runs a reference worker for one test. */
export async function withWorker(
  options: ReferenceWorkerOptions,
  run: (worker: RunningReferenceWorker) => Promise<void>,
): Promise<void> {
  const worker = await startReferenceWorker(options);
  try {
    await run(worker);
  } finally {
    await worker.close();
  }
}
