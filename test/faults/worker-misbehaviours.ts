import type { Fault } from '../../src/reference-worker/faults.ts';

/** The rows of the table of protocol section 6. */

export interface Row {
  readonly name: string;
  readonly fault: Fault;
  readonly failures: readonly string[];
  readonly refused?: string;
  /** Status for the agent, by generation where they differ. */
  readonly status: number | { readonly 2: number; readonly 3: number };
  readonly code?: string;
  readonly records?: number;
  readonly pending?: number;
  readonly retry?: 'never' | 'may';
}

export const WITHOUT = 'request_finished_without_staged_coordinates';
const INVALID = 'invalid_worker_commit_coordinates';
/** Schema 2: the rollout is lost, the agent gets its answer. */
const SERVED = { 2: 200, 3: 502 } as const;
const vllm = (status: number, message: string) => ({
  error: { message, type: 'BadRequestError', param: null, code: status },
});

/** An answer that is fine but for its coordinates. */
const answered = (coordinates: string) =>
  `{"id":"c","choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],"ng_commit_coords":${coordinates}}`;

export const ROWS: readonly Row[] = [
  {
    name: 'length refusal',
    fault: { kind: 'length_refusal', input_tokens: 200_000 },
    failures: [],
    refused: 'context_length_exceeded',
    status: 400,
    code: 'context_length_exceeded',
    pending: 0,
  },
  {
    name: 'length refusal in capitals',
    fault: { kind: 'status', status: 400, body: vllm(400, 'MAXIMUM CONTEXT LENGTH is 10') },
    failures: [],
    refused: 'context_length_exceeded',
    status: 400,
    code: 'context_length_exceeded',
    pending: 0,
  },
  {
    name: 'the same words with another status',
    fault: { kind: 'status', status: 500, body: vllm(500, 'maximum context length') },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_failed',
  },
  {
    name: '400',
    fault: { kind: 'status', status: 400, body: vllm(400, 'bad temperature') },
    failures: [WITHOUT],
    status: 400,
    code: 'invalid_request',
  },
  {
    name: '404',
    fault: { kind: 'status', status: 404, body: vllm(404, 'no such model') },
    failures: [WITHOUT],
    status: 404,
    code: 'not_found',
  },
  { name: '409', fault: { kind: 'status', status: 409 }, failures: [WITHOUT], status: 400 },
  {
    name: '422',
    fault: { kind: 'status', status: 422, body: { detail: [{ msg: 'wrong' }] } },
    failures: [WITHOUT],
    status: 400,
    code: 'invalid_request',
  },
  {
    name: '401',
    fault: { kind: 'status', status: 401 },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_refused_credentials',
  },
  {
    name: '403',
    fault: { kind: 'status', status: 403 },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_refused_credentials',
  },
  {
    name: '429 with Retry-After',
    fault: { kind: 'status', status: 429, retry_after: 7, body: vllm(429, 'slow down') },
    failures: [WITHOUT],
    status: 429,
    code: 'rate_limit_exceeded',
    retry: 'may',
  },
  {
    name: '500',
    fault: { kind: 'status', status: 500, body: 'Internal Server Error' },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_failed',
  },
  {
    name: '503 with Retry-After',
    fault: { kind: 'status', status: 503, retry_after: 3 },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_failed',
    retry: 'may',
  },
  { name: '302', fault: { kind: 'status', status: 302 }, failures: [WITHOUT], status: 502, code: 'worker_failed' },
  {
    name: '204 without a body',
    fault: { kind: 'status', status: 204, body: '' },
    failures: [WITHOUT],
    status: 502,
    code: 'worker_failed',
  },
  {
    name: 'an answer that is no JSON',
    fault: { kind: 'status', status: 200, body: '<html>' },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'an answer that is no object',
    fault: { kind: 'status', status: 200, body: [1] },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'an answer that is no JSON inside its coordinates',
    fault: { kind: 'status', status: 200, body: answered('{"cum_len":}') },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'coordinates with a number that is none',
    fault: { kind: 'status', status: 200, body: answered('{"cum_len":NaN}') },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'coordinates that are null',
    fault: { kind: 'status', status: 200, body: answered('null') },
    failures: ['worker_response_missing_commit_coordinates'],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'connection dropped before the answer',
    fault: { kind: 'drop_before_answer' },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'connection dropped inside the answer',
    fault: { kind: 'drop_mid_body' },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'staged, then dead',
    fault: { kind: 'stage_and_die' },
    failures: [WITHOUT],
    status: 502,
    code: 'capture_failed',
  },
  {
    name: 'lost acknowledgement',
    fault: { kind: 'lose_acknowledgement' },
    failures: ['worker_response_missing_commit_coordinates'],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'foreign coordinates',
    fault: { kind: 'foreign_coordinates' },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'malformed coordinates',
    fault: { kind: 'malformed_coordinates' },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'diverging lengths',
    fault: { kind: 'diverging_lengths' },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'an unknown field',
    fault: { kind: 'patch_coordinates', set: { extra: 1 } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a missing null',
    fault: { kind: 'patch_coordinates', unset: ['parent_call_id'] },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'an integer as text',
    fault: { kind: 'patch_coordinates', set: { cum_len: '3' } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a boolean for an integer',
    fault: { kind: 'patch_coordinates', set: { weight_version: true } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a hash in capitals',
    fault: { kind: 'patch_coordinates', set: { digest: 'A'.repeat(64) } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a foreign staging key',
    fault: { kind: 'patch_coordinates', set: { staging_key: 'other/key' } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'the other generation',
    fault: { kind: 'patch_coordinates', set: { schema_version: 1 } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'a parent that was not proposed',
    fault: { kind: 'patch_coordinates', set: { parent_call_id: 'f'.repeat(32), prev_len: 2, cum_len: 100 } },
    failures: [INVALID],
    status: SERVED,
    code: 'capture_failed',
  },
  {
    name: 'capture_failed',
    fault: { kind: 'capture_failed' },
    failures: ['worker_capture_failed'],
    status: SERVED,
    code: 'capture_failed',
  },
  { name: 'no id', fault: { kind: 'missing_id' }, failures: [INVALID], status: 502, code: 'capture_failed' },
  { name: 'no choice', fault: { kind: 'no_choices' }, failures: [INVALID], status: 502, code: 'capture_failed' },
  {
    name: 'abort, staged',
    fault: { kind: 'abort' },
    failures: [],
    records: 1,
    pending: 0,
    status: 502,
    code: 'worker_failed',
  },
];
