import { isRefusal, type RequestRefusal } from '../conversation.ts';
import type { JsonFragment } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { flag, unsupported, wrongType } from '../refusals.ts';
import {
  ENGINE_EXTRAS,
  emptyAnswer,
  type FieldType,
  forwardFields,
  forwardPromptFields,
  SAMPLING_FIELDS,
} from '../sampling-fields.ts';

/** Official Chat fields that go up as they are. */
const CHAT_FORWARDED: Readonly<Record<string, FieldType>> = {
  ...SAMPLING_FIELDS,
  ...ENGINE_EXTRAS,
  parallel_tool_calls: 'boolean',
  reasoning_effort: 'string',
  response_format: 'object',
};

/** Several answers and log probabilities are for uncaptured calls only; under capture {@link sharedRefusal} has refused a use of them. */
const UNCAPTURED_FORWARDED: Readonly<Record<string, FieldType>> = {
  n: 'integer',
  logprobs: 'boolean',
  top_logprobs: 'integer',
};

/** Uses of Chat fields that nothing here can answer. Null and defaults are no use. */
export function chatRefusal(body: JsonNode): RequestRefusal | null {
  const functions = body.present('functions');
  if (functions !== undefined && !(functions.isArray() && functions.elements().length === 0))
    return unsupported('functions', 'the legacy form is not supported; declare tools');
  const functionCall = body.present('function_call');
  if (functionCall !== undefined && !['none', 'auto'].includes(functionCall.string() ?? ''))
    return unsupported('function_call', 'the legacy form is not supported; use tool_choice');
  if (body.present('audio') !== undefined) return unsupported('audio', 'audio answers are not supported');
  for (const wanted of body.present('modalities')?.elements() ?? [])
    if (wanted.string() !== 'text') return unsupported('modalities', 'only "text" is supported');
  if (body.present('moderation') !== undefined) return unsupported('moderation', 'nothing here moderates');
  if (body.present('web_search_options') !== undefined)
    return unsupported('web_search_options', 'no engine here searches the web; declare a tool for it');
  return null;
}

/** The members of the upstream body that are taken over as they stand, or the refusal of one. */
export function forwardChatFields(body: JsonNode, captured: boolean): Map<string, JsonFragment> | RequestRefusal {
  const fields = new Map<string, JsonFragment>();
  const refusal =
    forwardFields(body, CHAT_FORWARDED, fields) ??
    emptyAnswer(body, 'max_tokens', 'max_completion_tokens') ??
    forwardPromptFields(body, fields) ??
    (captured ? null : forwardFields(body, UNCAPTURED_FORWARDED, fields));
  return refusal ?? fields;
}

export interface StreamWish {
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** `stream` and `stream_options.include_usage`. */
export function readStreamWish(body: JsonNode): StreamWish | RequestRefusal {
  const stream = flag(body, 'stream');
  if (isFlagRefusal(stream)) return stream;
  const options = body.present('stream_options');
  if (options === undefined) return { stream: stream === true, includeUsage: false };
  if (!options.isObject()) return wrongType('stream_options', 'an object', options);
  const includeUsage = options.present('include_usage');
  if (includeUsage !== undefined && includeUsage.boolean() === undefined)
    return wrongType('stream_options.include_usage', 'a boolean', includeUsage);
  return { stream: stream === true, includeUsage: includeUsage?.boolean() === true };
}

function isFlagRefusal(value: boolean | null | RequestRefusal): value is RequestRefusal {
  return typeof value === 'object' && value !== null && isRefusal(value);
}
