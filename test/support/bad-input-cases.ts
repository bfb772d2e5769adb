import { CONTROL_TOKEN } from './stack.ts';

/** Requests that are refused before inference, with what the caller is told. */

export type Dialect = 'chat' | 'responses' | 'messages';
export const PATHS = { chat: 'chat/completions', responses: 'responses', messages: 'messages' } as const;
export const DIALECTS = Object.keys(PATHS) as Dialect[];
const turn = { role: 'user', content: 'hi' };

export function good(dialect: Dialect): Record<string, unknown> {
  if (dialect === 'responses') return { model: 'policy', input: [turn] };
  return { model: 'policy', ...(dialect === 'messages' ? { max_tokens: 10 } : {}), messages: [turn] };
}

export interface Case {
  readonly name: string;
  readonly dialects?: readonly Dialect[];
  readonly body?: (dialect: Dialect) => unknown;
  readonly headers?: Record<string, string>;
  readonly status: number;
  readonly code: string;
  /** Must stand in the message. */
  readonly says: RegExp;
}

const set = (members: Record<string, unknown>) => (dialect: Dialect) => ({ ...good(dialect), ...members });

export const CASES: readonly Case[] = [
  { name: 'no JSON', body: () => '{"model": ', status: 400, code: 'invalid_json', says: /not valid JSON/ },
  { name: 'no body', body: () => '', status: 400, code: 'invalid_json', says: /no body/ },
  { name: 'an array', body: () => '[]', status: 400, code: 'invalid_json', says: /object/ },
  { name: 'a string', body: () => '"x"', status: 400, code: 'invalid_json', says: /object/ },
  { name: 'null', body: () => 'null', status: 400, code: 'invalid_json', says: /object/ },
  {
    name: 'NaN',
    body: (d) => JSON.stringify(good(d)).replace('{', '{"temperature":NaN,'),
    status: 400,
    code: 'invalid_json',
    says: /not valid JSON/,
  },
  {
    name: 'a byte order mark',
    body: (d) => `\uFEFF${JSON.stringify(good(d))}`,
    status: 400,
    code: 'invalid_json',
    says: /not valid JSON/,
  },
  {
    name: 'broken UTF-8',
    body: () => Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    status: 400,
    code: 'invalid_json',
    says: /UTF-8/,
  },
  {
    name: 'nested too deeply',
    body: (d) => JSON.stringify(good(d)).replace('{', `{"x":${'['.repeat(3000)}${']'.repeat(3000)},`),
    status: 400,
    code: 'invalid_json',
    says: /nested/,
  },
  {
    name: 'the history of a wrong type',
    body: (d) => ({ model: 'policy', max_tokens: 5, [d === 'responses' ? 'input' : 'messages']: 5 }),
    status: 400,
    code: 'invalid_request',
    says: /(input|messages)/,
  },
  {
    name: 'an element of a wrong type',
    body: (d) => ({ model: 'policy', max_tokens: 5, [d === 'responses' ? 'input' : 'messages']: [7] }),
    status: 400,
    code: 'invalid_request',
    says: /\[0\]/,
  },
  {
    name: 'an unknown role',
    body: (d) => ({
      model: 'policy',
      max_tokens: 5,
      [d === 'responses' ? 'input' : 'messages']: [{ role: 'wizard', content: 'x' }],
    }),
    status: 400,
    code: 'invalid_request',
    says: /role/,
  },
  {
    name: 'previous_response_id',
    body: set({ previous_response_id: 'resp_1' }),
    status: 400,
    code: 'unsupported_field',
    says: /previous_response_id/,
  },
  {
    name: 'conversation',
    body: set({ conversation: 'c1' }),
    status: 400,
    code: 'unsupported_field',
    says: /conversation/,
  },
  { name: 'background', body: set({ background: true }), status: 400, code: 'unsupported_field', says: /background/ },
  {
    name: 'n',
    dialects: ['chat', 'responses'],
    body: set({ n: 2 }),
    status: 400,
    code: 'unsupported_field',
    says: /\bn\b/,
  },
  {
    name: 'truncate_prompt_tokens',
    dialects: ['chat', 'responses'],
    body: set({ truncate_prompt_tokens: 5 }),
    status: 400,
    code: 'unsupported_field',
    says: /truncate_prompt_tokens/,
  },
  {
    name: 'continue_final_message',
    dialects: ['chat', 'responses'],
    body: set({ continue_final_message: true }),
    status: 400,
    code: 'unsupported_field',
    says: /continue_final_message/,
  },
  {
    name: 'add_generation_prompt',
    dialects: ['chat', 'responses'],
    body: set({ add_generation_prompt: false }),
    status: 400,
    code: 'unsupported_field',
    says: /add_generation_prompt/,
  },
  {
    name: 'truncation',
    dialects: ['responses'],
    body: set({ truncation: 'auto' }),
    status: 400,
    code: 'unsupported_field',
    says: /truncation/,
  },
  {
    name: 'logprobs',
    dialects: ['chat'],
    body: set({ logprobs: true }),
    status: 400,
    code: 'unsupported_field',
    says: /logprobs/,
  },
  {
    name: 'top_logprobs',
    dialects: ['chat', 'responses'],
    body: set({ top_logprobs: 3 }),
    status: 400,
    code: 'unsupported_field',
    says: /top_logprobs/,
  },
  {
    name: 'logprobs by include',
    dialects: ['responses'],
    body: set({ include: ['message.output_text.logprobs'] }),
    status: 400,
    code: 'unsupported_field',
    says: /include/,
  },
  {
    name: 'a prefill',
    body: (d) => ({
      ...good(d),
      [d === 'responses' ? 'input' : 'messages']: [turn, { role: 'assistant', content: 'I' }],
    }),
    status: 400,
    code: 'unsupported_field',
    says: /assistant/,
  },
  {
    name: 'a chat template of its own',
    dialects: ['chat', 'responses'],
    body: set({ chat_template: '{{x}}' }),
    status: 400,
    code: 'unsupported_field',
    says: /chat_template/,
  },
  {
    name: 'a digest of a lone surrogate in tools',
    dialects: ['chat'],
    body: (d) =>
      JSON.stringify({ ...good(d), tools: [{ type: 'function', function: { name: 'f', description: 'X' } }] }).replace(
        '"X"',
        '"\\ud800"',
      ),
    status: 400,
    code: 'invalid_request',
    says: /tools/,
  },
  {
    name: 'a parent header that is no JSON',
    dialects: ['chat', 'responses'],
    headers: { 'x-nemo-gym-capture-parent': 'resp_1' },
    status: 400,
    code: 'invalid_parent',
    says: /x-nemo-gym-capture-parent/,
  },
  {
    name: 'a parent header of a wrong type',
    dialects: ['chat', 'responses'],
    headers: { 'x-nemo-gym-capture-parent': '5' },
    status: 400,
    code: 'invalid_parent',
    says: /x-nemo-gym-capture-parent/,
  },
  {
    name: 'an empty parent header',
    dialects: ['chat', 'responses'],
    headers: { 'x-nemo-gym-capture-parent': '""' },
    status: 400,
    code: 'invalid_parent',
    says: /x-nemo-gym-capture-parent/,
  },
  {
    name: 'a parent header on Messages',
    dialects: ['messages'],
    headers: { 'x-nemo-gym-capture-parent': 'null' },
    status: 400,
    code: 'invalid_parent',
    says: /x-nemo-gym-capture-parent/,
  },
  {
    name: 'a parent that nobody knows',
    dialects: ['chat', 'responses'],
    headers: { 'x-nemo-gym-capture-parent': '"resp_nobody"' },
    status: 400,
    code: 'unknown_parent',
    says: /x-nemo-gym-capture-parent/,
  },
  {
    name: 'an unknown content encoding',
    headers: { 'content-encoding': 'rot13' },
    status: 415,
    code: 'unsupported_media_type',
    says: /content-encoding/,
  },
  {
    name: 'a body that is not what its encoding says',
    headers: { 'content-encoding': 'gzip' },
    status: 400,
    code: 'invalid_json',
    says: /gzip/,
  },
  {
    name: 'a body above the limit',
    body: set({ metadata: { pad: 'x'.repeat(300_000) } }),
    status: 413,
    code: 'body_too_large',
    says: /limits.body_bytes/,
  },
  {
    name: 'the control token as a bearer',
    headers: { authorization: `Bearer ${CONTROL_TOKEN}` },
    status: 401,
    code: 'unauthorized',
    says: /control token/,
  },
  {
    name: 'the control token as x-api-key',
    headers: { 'x-api-key': CONTROL_TOKEN },
    status: 401,
    code: 'unauthorized',
    says: /control token/,
  },
];
