import type { EngineAnswer, EngineToolCall, EngineUsage } from './conversation.ts';
import { madeId } from './ids.ts';
import type { JsonNode } from './json/json-node.ts';
import { kindName } from './refusals.ts';

/** Reading a worker's Chat completion: only what may reach an agent is taken over. */

/** Names to step over while a worker's answer is parsed: token data of any size costs no nodes. */
export const ENGINE_SKIP: ReadonlySet<string> = new Set([
  'logprobs',
  'token_ids',
  'prompt_token_ids',
  'prompt_logprobs',
  'generation_token_ids',
  'generation_log_probs',
  'routed_experts',
  'predecessor_tail_route',
  'compact_prompt_token_ids',
  'kv_transfer_params',
  // Read for what it is, apart.
  'ng_commit_coords',
]);

/** Finish reasons that say that the engine did not finish: the agent gets 502 (C90, protocol section 6). */
export const UNFINISHED_REASONS: ReadonlySet<string> = new Set(['abort', 'error']);

export interface AnswerProblem {
  readonly problem: string;
}

export function isAnswerProblem(value: EngineAnswer | AnswerProblem): value is AnswerProblem {
  return 'problem' in value;
}

class Unusable extends Error {}

/**
 * The first choice of a Chat completion, reduced to what may reach an agent; a problem (in words for a log) where it has no id, no usable
 * choice, or holds what cannot be rendered. `callId` is what ids of calls without one are made from. Finish reason null is settled (C90).
 */
export function parseEngineAnswer(body: JsonNode, options: { readonly callId: string }): EngineAnswer | AnswerProblem {
  try {
    return readAnswer(body, options.callId);
  } catch (error) {
    if (error instanceof Unusable) return { problem: error.message };
    throw error;
  }
}

function readAnswer(body: JsonNode, callId: string): EngineAnswer {
  if (!body.isObject()) throw new Unusable(`the answer is ${kindName(body)}, not an object`);
  const id = body.get('id')?.string() ?? '';
  if (id === '') throw new Unusable('the answer has no id');
  const choice = body.get('choices')?.elements()[0];
  const message = choice?.get('message');
  if (choice === undefined || message === undefined || !message.isObject())
    throw new Unusable('the answer has no choice with a message');
  const { text, refusal: refusedPart } = readContent(message);
  const toolCalls = readToolCalls(message, callId);
  const refusal = optionalText(message, 'refusal') ?? refusedPart;
  const stopSequence = choice.get('stop_reason')?.string();
  return {
    id,
    model: body.get('model')?.string() ?? '',
    createdS: count(body.get('created')),
    content: text,
    reasoning: nonBlank(optionalText(message, 'reasoning')) ?? nonBlank(optionalText(message, 'reasoning_content')),
    refusal: refusal === '' ? null : refusal,
    toolCalls,
    finishReason: readFinishReason(choice, toolCalls),
    ...(stopSequence === undefined ? {} : { stopSequence }),
    usage: readUsage(body.present('usage')),
  };
}

function optionalText(message: JsonNode, name: string): string | null {
  const node = message.present(name);
  if (node === undefined) return null;
  const text = node.string();
  if (text === undefined) throw new Unusable(`message.${name} is ${kindName(node)}`);
  return text;
}

function nonBlank(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
}

function readContent(message: JsonNode): { text: string | null; refusal: string | null } {
  const content = message.present('content');
  if (content === undefined) return { text: null, refusal: null };
  const plain = content.string();
  if (plain !== undefined) return { text: plain, refusal: null };
  if (!content.isArray()) throw new Unusable(`message.content is ${kindName(content)}`);
  let text: string | null = null;
  let refusal: string | null = null;
  for (const part of content.elements()) {
    const type = part.get('type')?.string();
    const words = part.string() ?? part.get(type === 'refusal' ? 'refusal' : 'text')?.string();
    if (words === undefined) throw new Unusable('a part of message.content is no text');
    if (type === 'refusal') refusal = (refusal ?? '') + words;
    else text = (text ?? '') + words;
  }
  return { text, refusal };
}

function readToolCalls(message: JsonNode, callId: string): EngineToolCall[] {
  const list = message.present('tool_calls');
  if (list !== undefined && !list.isArray()) throw new Unusable(`message.tool_calls is ${kindName(list)}`);
  const calls = (list?.elements() ?? []).map((call, index) => {
    const id = call.get('id')?.string() ?? '';
    return { id: id === '' ? madeId('call', callId, index) : id, ...readFunction(call.get('function')) };
  });
  const legacy = message.present('function_call');
  if (calls.length === 0 && legacy !== undefined) return [{ id: madeId('call', callId, 0), ...readFunction(legacy) }];
  return calls;
}

/** Arguments that are no string are taken as their source text, never re-written (C102). */
function readFunction(node: JsonNode | undefined): { name: string; arguments: string } {
  const name = node?.get('name')?.string() ?? '';
  if (node === undefined || name === '') throw new Unusable('a tool call names no function');
  const args = node.present('arguments');
  return { name, arguments: args === undefined ? '{}' : (args.string() ?? args.rawText()) };
}

function readFinishReason(choice: JsonNode, toolCalls: readonly EngineToolCall[]): string {
  const said = choice.get('finish_reason')?.string();
  if (said === 'function_call') return 'tool_calls';
  return said ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
}

function readUsage(usage: JsonNode | undefined): EngineUsage | null {
  if (usage === undefined || !usage.isObject()) return null;
  return {
    promptTokens: count(usage.get('prompt_tokens')),
    completionTokens: count(usage.get('completion_tokens')),
    cachedTokens: count(usage.get('prompt_tokens_details')?.get('cached_tokens')),
    reasoningTokens: count(usage.get('completion_tokens_details')?.get('reasoning_tokens')),
  };
}

/** Null, absent or nonsense is 0: clients need integers (C92). */
function count(node: JsonNode | undefined): number {
  const value = Math.trunc(node?.number() ?? 0);
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** The answer as JSON text, to be kept for re-sends. Token-free, and lossless for any string (lone surrogates become escapes). */
export function engineAnswerToJson(answer: EngineAnswer): string {
  return JSON.stringify(answer);
}

/** Reads what {@link engineAnswerToJson} wrote. Throws on anything that is no JSON. */
export function engineAnswerFromJson(text: string): EngineAnswer {
  return JSON.parse(text) as EngineAnswer;
}
