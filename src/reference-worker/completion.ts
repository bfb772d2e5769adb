import type { Generation } from './generate.ts';

export type ReasoningKey = 'reasoning' | 'reasoning_content' | 'both';

export interface CompletionInput {
  readonly id: string;
  /** Seconds since the epoch, an integer. */
  readonly createdS: number;
  readonly model: string;
  /** One per choice. */
  readonly generations: readonly Generation[];
  readonly prompt: readonly number[];
  /** Tokens of the prompt that were there already. */
  readonly cachedTokens: number;
  /** Overrides what was counted; null: no usage. */
  readonly usage: Readonly<Record<string, unknown>> | null | undefined;
  readonly logprobs: 'none' | 'texts' | 'token_ids';
  readonly logprob: number;
  readonly reasoningKey: ReasoningKey;
  /** Adds everything token-like that a careless engine lets out. */
  readonly leakTokens: boolean;
  /** Makes the id of a tool call that has none. */
  readonly newToolCallId: () => string;
}

export interface Completion {
  readonly id: string;
  readonly object: 'chat.completion';
  readonly created: number;
  readonly model: string;
  readonly choices: readonly CompletionChoice[];
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly [extra: string]: unknown;
}

export interface CompletionChoice {
  readonly index: number;
  readonly message: CompletionMessage;
  readonly logprobs: unknown;
  readonly finish_reason: string | null;
  readonly stop_reason: number | null;
  readonly [extra: string]: unknown;
}

export interface CompletionMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly refusal: string | null;
  readonly tool_calls: readonly CompletionToolCall[];
  readonly [extra: string]: unknown;
}

export interface CompletionToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A chat completion as a vLLM server writes it. */
export function buildCompletion(input: CompletionInput): Completion {
  const { prompt, leakTokens, generations } = input;
  const generated = generations.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    id: input.id,
    object: 'chat.completion',
    created: input.createdS,
    model: input.model,
    choices: generations.map((generation, index) => buildChoice(generation, index, input)),
    service_tier: null,
    system_fingerprint: null,
    usage: input.usage === undefined ? countUsage(prompt.length, generated, input.cachedTokens) : input.usage,
    prompt_logprobs: leakTokens ? prompt.map((id) => ({ [id]: { logprob: -1, rank: 1, decoded_token: '' } })) : null,
    prompt_token_ids: leakTokens ? prompt : null,
    kv_transfer_params: null,
  };
}

function countUsage(promptTokens: number, completionTokens: number, cachedTokens: number): Record<string, unknown> {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

function buildChoice(generation: Generation, index: number, input: CompletionInput): CompletionChoice {
  const { tokens } = generation;
  return {
    index,
    message: buildMessage(generation, input),
    logprobs: input.logprobs === 'none' ? null : { content: tokens.map((token) => logprobOf(token, input)) },
    finish_reason: generation.finishReason,
    stop_reason: input.leakTokens ? (tokens.at(-1)?.id ?? null) : null,
    token_ids: input.leakTokens ? tokens.map(({ id }) => id) : null,
  };
}

function buildMessage(generation: Generation, input: CompletionInput): CompletionMessage {
  const { reasoning } = generation;
  const ids = generation.tokens.map(({ id }) => id);
  return {
    role: 'assistant',
    content: generation.content,
    refusal: generation.refusal,
    annotations: null,
    audio: null,
    function_call: null,
    tool_calls: generation.toolCalls.map((call) => ({
      id: call.id ?? input.newToolCallId(),
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
    ...(input.reasoningKey === 'reasoning_content' ? {} : { reasoning }),
    ...(input.reasoningKey === 'reasoning' ? {} : { reasoning_content: reasoning }),
    ...(input.leakTokens
      ? {
          prompt_token_ids: input.prompt,
          generation_token_ids: ids,
          generation_log_probs: ids.map(() => input.logprob),
          routed_experts: [[[0, 1]]],
          predecessor_tail_route: [[0, 1]],
          compact_prompt_token_ids: input.prompt,
        }
      : {}),
  };
}

function logprobOf(token: { id: number; text: string }, input: CompletionInput): unknown {
  const text = input.logprobs === 'token_ids' ? `token_id:${token.id}` : token.text;
  return { token: text, logprob: input.logprob, bytes: [...Buffer.from(text)], top_logprobs: [] };
}
