import { z } from 'zod';

/** Replies that are written by hand where they are made; tests hold real replies against these schemas. */

const json = z.unknown();
const text = z.string();
const count = z.int().min(0);

export const chatCompletion = z
  .looseObject({
    id: text.meta({ description: "the engine's completion id; the record's `response_id`" }),
    object: z.literal('chat.completion'),
    created: z.int().meta({ description: 'seconds since the epoch' }),
    model: text,
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: text.nullable(),
          refusal: text.nullish(),
          reasoning: text.nullish().meta({ description: 'under the name(s) of `reasoning.chat_key`' }),
          tool_calls: z.array(z.looseObject({ id: text, type: z.enum(['function', 'custom']) })).optional(),
        }),
        logprobs: json.optional(),
        finish_reason: text,
      }),
    ),
    usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  })
  .meta({ description: 'A Chat completion. On captured calls it has one choice and no log probabilities.' });

export const responseObject = z
  .looseObject({
    id: text.meta({ description: "captured calls: the engine's completion id; the record's `response_id`" }),
    object: z.literal('response'),
    created_at: z.int().meta({ description: 'seconds since the epoch' }),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
    model: text,
    output: z.array(
      z.looseObject({
        id: text,
        type: z.enum(['reasoning', 'message', 'function_call', 'custom_tool_call', 'tool_search_call']),
        status: z.enum(['completed', 'incomplete']),
      }),
    ),
    error: json,
    incomplete_details: z.looseObject({ reason: text }).nullable(),
    usage: z.looseObject({ input_tokens: count, output_tokens: count, total_tokens: count }).nullable(),
  })
  .meta({ description: 'A Response. Nothing is stored: it cannot be fetched again or continued by its id.' });

export const messageObject = z
  .looseObject({
    id: text.meta({ description: "captured calls: the engine's completion id; the record's `response_id`" }),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: text,
    content: z.array(z.looseObject({ type: z.enum(['thinking', 'text', 'tool_use']) })),
    stop_reason: text,
    stop_sequence: text.nullable(),
    usage: z.looseObject({ input_tokens: count, output_tokens: count }),
  })
  .meta({ description: 'A Message.' });

export const model = z.looseObject({ id: text, object: z.literal('model').optional() });
export const modelList = z.looseObject({ object: z.literal('list'), data: z.array(model) });
export const inputTokens = z.strictObject({ input_tokens: count });
export const promptTokens = z.strictObject({ prompt_token_count: count });
export const live = z.strictObject({ status: z.literal('ok') });
export const ready = z.strictObject({
  status: z.enum(['ok', 'unavailable', 'stopping']),
  ledger: text.optional().meta({ description: '`ok`, or why it cannot be asked' }),
  workers: text.optional(),
});

export const openAiError = z
  .strictObject({
    error: z.strictObject({
      message: text,
      type: text,
      param: text.nullable().meta({ description: 'the field, parameter or header that the error is about' }),
      code: text.meta({ description: "a code of the catalogue (docs/errors.md), or the engine's own" }),
    }),
  })
  .meta({ description: 'The envelope of OpenAI, used everywhere but on the Messages endpoints.' });

export const anthropicError = z
  .strictObject({
    type: z.literal('error'),
    error: z.strictObject({
      type: text,
      message: text.meta({ description: 'begins with the code of the catalogue, but for the context refusal' }),
      details: z
        .strictObject({ error_code: z.literal('thread_unsupported_request'), unsupported: z.array(text) })
        .optional()
        .meta({ description: 'where `thread` is refused: clients then go on without it' }),
    }),
  })
  .meta({ description: 'The envelope of Anthropic, used on the Messages endpoints.' });

export function removalReply(schemaVersion: 2 | 3) {
  return z.strictObject({
    schema_version: z.literal(schemaVersion),
    removed: z.array(text).meta({ description: 'had rows, or a fence, for this operation to take away' }),
    absent: z.array(text),
  });
}
