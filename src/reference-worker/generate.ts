import type { ModelAnswer, ModelToolCall } from './model.ts';
import { callText } from './render.ts';
import { type Piece, SPECIAL_TOKENS, type Tokenizer } from './tokenizer.ts';

/** What was generated: the tokens, and the answer that an engine's parsers would read out of them. */
export interface Generation {
  readonly tokens: readonly Piece[];
  readonly content: string | null;
  readonly reasoning: string | null;
  readonly refusal: string | null;
  readonly toolCalls: readonly ModelToolCall[];
  readonly finishReason: string | null;
}

export interface GenerateOptions {
  /** With a template the model writes its markers and, when it stops by itself, e. */
  readonly template: boolean;
  /** Most tokens that may be generated; at least 1. */
  readonly maxTokens: number;
}

type Field = 'reasoning' | 'content' | 'refusal' | 'mark' | `call ${number}`;
interface WrittenToken extends Piece {
  readonly field: Field;
}

/**
 * Turns an answer into tokens, in the order in which a model writes: reasoning, text, calls, e. What exceeds `maxTokens` is cut, and the answer with
 * it (finish reason `length`; arguments may end in the middle), unless the script gave the tokens or the finish reason itself.
 */
export function generate(answer: ModelAnswer, tokenizer: Tokenizer, options: GenerateOptions): Generation {
  const natural = answer.toolCalls.length > 0 ? 'tool_calls' : 'stop';
  const finishReason = answer.finishReason === undefined ? natural : answer.finishReason;
  const stopsByItself = finishReason === natural || finishReason === 'stop';
  const whole = {
    content: answer.content,
    reasoning: answer.reasoning,
    refusal: answer.refusal,
    toolCalls: answer.toolCalls,
    finishReason,
  };
  if (answer.tokenIds !== undefined) return { ...whole, tokens: answer.tokenIds.map((id) => ({ id, text: '' })) };
  const written = write(answer, tokenizer, options.template, stopsByItself);
  if (answer.finishReason !== undefined || written.length <= options.maxTokens) return { ...whole, tokens: written };
  return cut(answer, written.slice(0, options.maxTokens));
}

function write(answer: ModelAnswer, tokenizer: Tokenizer, template: boolean, stopsByItself: boolean): WrittenToken[] {
  const out: WrittenToken[] = [];
  const mark = (id: number) => {
    if (template) out.push({ id, text: '', field: 'mark' });
  };
  const say = (field: Field, text: string) => {
    for (const piece of tokenizer.sample(text)) out.push({ ...piece, field });
  };
  if (answer.reasoning !== null) {
    mark(SPECIAL_TOKENS.reasoning);
    say('reasoning', answer.reasoning);
    mark(SPECIAL_TOKENS.reasoningEnd);
  }
  if (answer.content !== null) say('content', answer.content);
  if (answer.refusal !== null) say('refusal', answer.refusal);
  for (const [at, call] of answer.toolCalls.entries()) {
    mark(SPECIAL_TOKENS.toolCall);
    say(`call ${at}`, callText(call.name, call.arguments));
  }
  if (stopsByItself) mark(SPECIAL_TOKENS.end);
  return out;
}

function cut(answer: ModelAnswer, tokens: readonly WrittenToken[]): Generation {
  const textOf = (field: Field) => {
    const own = tokens.filter((token) => token.field === field);
    return own.length === 0 ? null : own.map((token) => token.text).join('');
  };
  const toolCalls = answer.toolCalls.flatMap((call, at) => {
    const text = textOf(`call ${at}`);
    // A call whose name is not even complete is no call that a parser could see.
    if (text === null || text.length <= call.name.length) return [];
    return [{ ...call, arguments: text.slice(call.name.length + 1) }];
  });
  return {
    tokens,
    content: textOf('content') ?? (answer.content === null ? null : ''),
    reasoning: textOf('reasoning'),
    refusal: textOf('refusal'),
    toolCalls,
    finishReason: 'length',
  };
}
