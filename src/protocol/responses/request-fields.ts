import { isRefusal, type RequestRefusal } from '../conversation.ts';
import { type JsonFragment, joinFragments } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { flag, invalid, unsupported, wrongType } from '../refusals.ts';
import {
  ENGINE_EXTRAS,
  emptyAnswer,
  type FieldType,
  forwardFields,
  forwardPromptFields,
  SAMPLING_FIELDS,
} from '../sampling-fields.ts';

const FORWARDED: Readonly<Record<string, FieldType>> = {
  ...SAMPLING_FIELDS,
  ...ENGINE_EXTRAS,
  parallel_tool_calls: 'boolean',
};

/** Uses of Responses fields that nothing here can answer. Null is no use. */
export function responsesRefusal(body: JsonNode): RequestRefusal | null {
  if (body.present('prompt') !== undefined)
    return unsupported('prompt', 'prompt templates are not stored here; send instructions and input');
  if (body.present('moderation') !== undefined) return unsupported('moderation', 'nothing here moderates');
  if (body.present('messages') !== undefined && body.present('input') === undefined)
    return invalid('input', 'is missing; messages belong to /v1/chat/completions');
  return null;
}

/**
 * The members of the upstream Chat body that come from settings of the request: those of the same name as they stand, the others under
 * their Chat names. `updates` are the `configuration_update` items of the input; the last setting of each kind counts.
 */
export function convertFields(
  body: JsonNode,
  updates: readonly JsonNode[],
): Map<string, JsonFragment> | RequestRefusal {
  const fields = new Map<string, JsonFragment>();
  const refusal =
    forwardFields(body, FORWARDED, fields) ??
    forwardPromptFields(body, fields) ??
    maxOutputTokens(body, fields) ??
    emptyAnswer(body, 'max_output_tokens', 'max_tokens', 'max_completion_tokens') ??
    reasoningEffort(body, updates, fields) ??
    responseFormat(body, updates, fields);
  return refusal ?? fields;
}

/** `stream`. */
export function streamWish(body: JsonNode): { readonly stream: boolean } | RequestRefusal {
  const stream = flag(body, 'stream');
  return typeof stream === 'object' && stream !== null ? stream : { stream: stream === true };
}

/** Whether the reply's reasoning items shall carry `encrypted_content`. */
export function wantsEncryptedReasoning(body: JsonNode): boolean {
  return (
    body
      .get('include')
      ?.elements()
      .some((name) => name.string() === 'reasoning.encrypted_content') === true
  );
}

/** Engines know two names for the limit; the one that Chat has now is sent. */
function maxOutputTokens(body: JsonNode, fields: Map<string, JsonFragment>): RequestRefusal | null {
  const limit = body.present('max_output_tokens');
  if (limit === undefined) return null;
  if (!Number.isInteger(limit.number())) return wrongType('max_output_tokens', 'an integer', limit);
  fields.delete('max_tokens');
  fields.set('max_completion_tokens', limit.fragment());
  return null;
}

/** Only the effort is for the engine (C36). */
function reasoningEffort(
  body: JsonNode,
  updates: readonly JsonNode[],
  fields: Map<string, JsonFragment>,
): RequestRefusal | null {
  const reasoning = body.present('reasoning');
  if (reasoning !== undefined && !reasoning.isObject()) return wrongType('reasoning', 'an object', reasoning);
  const settings = [reasoning, ...updates.map((update) => update.present('reasoning'))];
  const effort = settings.findLast((setting) => setting?.get('effort') !== undefined)?.present('effort');
  if (effort === undefined) return null;
  if (!effort.isString()) return wrongType('reasoning.effort', 'a string', effort);
  fields.set('reasoning_effort', effort.fragment());
  return null;
}

/** `text.format` is Chat's `response_format`; plain text needs none (C35). */
function responseFormat(
  body: JsonNode,
  updates: readonly JsonNode[],
  fields: Map<string, JsonFragment>,
): RequestRefusal | null {
  const text = body.present('text');
  if (text !== undefined && !text.isObject()) return wrongType('text', 'an object', text);
  const settings = [text, ...updates.map((update) => update.present('text'))];
  const format = settings.findLast((setting) => setting?.present('format') !== undefined)?.present('format');
  if (format === undefined) return null;
  const type = format.get('type')?.string();
  switch (type) {
    case 'text':
      return null;
    case 'json_object':
      fields.set('response_format', '{"type":"json_object"}');
      return null;
    case 'json_schema': {
      const schema = jsonSchema(format);
      if (isRefusal(schema)) return schema;
      fields.set('response_format', schema);
      return null;
    }
    default:
      return unsupported('text.format.type', `expected "text", "json_object" or "json_schema"`);
  }
}

/** The schema goes up byte for byte. */
function jsonSchema(format: JsonNode): Buffer | RequestRefusal {
  const inner = format.present('json_schema') ?? format;
  if (inner.present('name')?.isString() !== true) return invalid('text.format.name', 'a schema needs a name');
  if (inner.present('schema') === undefined) return invalid('text.format.schema', 'is missing');
  const members: JsonFragment[] = [];
  for (const key of ['name', 'description', 'strict', 'schema']) {
    const value = inner.present(key);
    if (value !== undefined) members.push(`${members.length === 0 ? '' : ','}"${key}":`, value.raw());
  }
  return joinFragments(['{"type":"json_schema","json_schema":{', ...members, '}}']);
}
