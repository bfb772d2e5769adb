import { isUtf8 } from 'node:buffer';
import { z } from 'zod';

/** The upstream Chat body, as strictly as an engine checks it. Fields that change nothing here are not looked at. */

const MEDIA_PARTS = ['image_url', 'video_url', 'audio_url', 'input_audio', 'file'] as const;

const contentPart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['text', 'input_text', 'output_text']), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string() }),
  z.looseObject({ type: z.enum(MEDIA_PARTS) }),
]);
export type ContentPart = z.infer<typeof contentPart>;

const content = z.union([z.string(), z.array(contentPart)]);

const toolCall = z.looseObject({
  id: z.string().nullish(),
  type: z.literal('function').nullish(),
  function: z.looseObject({ name: z.string(), arguments: z.string().nullish() }),
});

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer', 'user', 'tool']), content }),
  z.looseObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    reasoning: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
  }),
]);
export type ChatMessage = z.infer<typeof message>;

const tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string() }),
});

const prompt = {
  model: z.string().nullish(),
  messages: z.array(message).min(1),
  tools: z.array(tool).nullish(),
  tool_choice: z.unknown().optional(),
  documents: z.array(z.unknown()).nullish(),
  add_generation_prompt: z.boolean().nullish(),
  required_prefix_token_ids: z.array(z.int()).nullish(),
  ng_capture: z.unknown().optional(),
  offload_params: z.looseObject({ ng_capture: z.unknown().optional() }).nullish(),
};

const chatBody = z.looseObject({
  ...prompt,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(16).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).nullish(),
  return_tokens_as_token_ids: z.boolean().nullish(),
  request_id: z.string().nullish(),
});
export type ChatBody = z.infer<typeof chatBody>;

const promptBody = z.looseObject(prompt);
/** What prompt rendering and capture read: a chat body, or a tokenize body with messages. */
export type PromptBody = z.infer<typeof promptBody>;

/** A tokenize body asks for the tokens of a conversation or of a text. */
export type TokenizeBody =
  | { readonly kind: 'messages'; readonly body: PromptBody }
  | { readonly kind: 'prompt'; readonly prompt: string };

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string; readonly param: string | null };

/** Parses and checks `POST /v1/chat/completions`. A refusal names the field, like an engine's own validation. */
export function parseChatBody(raw: Buffer): Parsed<ChatBody> {
  const parsed = parseWith(chatBody, raw);
  if (!parsed.ok) return parsed;
  const { stream, stream_options, tool_choice, tools, messages } = parsed.value;
  if (stream_options != null && stream !== true) {
    return { ok: false, message: 'stream_options is only allowed together with stream: true', param: 'stream_options' };
  }
  if (tool_choice != null && tool_choice !== 'none' && tools == null) {
    return { ok: false, message: 'tool_choice needs tools', param: 'tool_choice' };
  }
  return checkArguments(messages) ?? parsed;
}

/** Parses and checks `POST /tokenize`. */
export function parseTokenizeBody(raw: Buffer): Parsed<TokenizeBody> {
  const json = parseJson(raw);
  if (!json.ok) return json;
  if (typeof json.value === 'object' && json.value !== null && !('messages' in json.value)) {
    const parsed = check(z.looseObject({ prompt: z.string() }), json.value);
    return parsed.ok ? { ok: true, value: { kind: 'prompt', prompt: parsed.value.prompt } } : parsed;
  }
  const parsed = check(promptBody, json.value);
  return parsed.ok ? { ok: true, value: { kind: 'messages', body: parsed.value } } : parsed;
}

/** Parses any JSON request body with a schema. */
export function parseWith<T>(schema: z.ZodType<T>, raw: Buffer): Parsed<T> {
  const json = parseJson(raw);
  return json.ok ? check(schema, json.value) : json;
}

function parseJson(raw: Buffer): Parsed<unknown> {
  if (!isUtf8(raw)) return { ok: false, message: 'the body is not UTF-8', param: null };
  try {
    return { ok: true, value: JSON.parse(raw.toString('utf8')) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, message: `the body is not JSON: ${error.message}`, param: null };
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown): Parsed<T> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  return {
    ok: false,
    message: describeIssues(result.error),
    param: result.error.issues[0]?.path[0]?.toString() ?? null,
  };
}

/** All problems of a value in one line: how many, and for each where and what. */
export function describeIssues(error: z.ZodError): string {
  const lines = error.issues.map((issue) => `${['body', ...issue.path].join('.')}: ${issue.message}`);
  return `${lines.length} validation error${lines.length === 1 ? '' : 's'}: ${lines.join('; ')}`;
}

/** Templates take the arguments of earlier calls apart, so an engine refuses those that are no JSON object. */
function checkArguments(messages: readonly ChatMessage[]): Parsed<never> | null {
  for (const [at, { role, ...rest }] of messages.entries()) {
    if (role !== 'assistant' || !('tool_calls' in rest) || !Array.isArray(rest.tool_calls)) continue;
    for (const call of rest.tool_calls as z.infer<typeof toolCall>[]) {
      if (isJsonObject(call.function.arguments ?? '{}')) continue;
      const where = `messages.${at}.tool_calls`;
      return {
        ok: false,
        message: `body.${where}: the arguments of a function call must be a JSON object`,
        param: 'messages',
      };
    }
  }
  return null;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
