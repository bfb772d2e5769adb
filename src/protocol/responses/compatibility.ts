import { type DialectFields, type FieldTable, ignored, mapped, refused } from '../field-table.ts';
import { SHARED_FIELDS } from '../sampling-fields.ts';
import { INPUT_TYPES } from './compatibility-input.ts';
import { TOOL_TYPES } from './compatibility-tools.ts';

const AS_IS = mapped('as it is');
const REPEATED = 'the reply repeats it';
const NOT_OFFICIAL = mapped('as it is (not official)');

const request: FieldTable = {
  ...SHARED_FIELDS,
  model: mapped('configuration may override or alias it'),
  input: mapped('item by item; adjacent assistant items of one turn become one message'),
  instructions: mapped('the system message, joined with leading system and developer items by blank lines'),
  stream: mapped('decides the form of the reply; the call upstream never streams'),
  tools: mapped(
    'functions, schemas byte for byte; custom tools as functions; tools that the provider runs are left out',
  ),
  tool_choice: mapped('`allowed_tools` narrows the tools; a hosted tool leaves the choice free'),
  parallel_tool_calls: AS_IS,
  temperature: AS_IS,
  top_p: AS_IS,
  frequency_penalty: NOT_OFFICIAL,
  presence_penalty: NOT_OFFICIAL,
  seed: NOT_OFFICIAL,
  stop: NOT_OFFICIAL,
  logit_bias: NOT_OFFICIAL,
  max_tokens: mapped('as it is, where max_output_tokens is not given (not official)'),
  max_completion_tokens: NOT_OFFICIAL,
  max_output_tokens: mapped('`max_completion_tokens`; below 1 it is refused'),
  reasoning: mapped('`effort` is `reasoning_effort`'),
  text: mapped('`format` is `response_format`'),
  include: mapped('`reasoning.encrypted_content`; `message.output_text.logprobs` is refused under capture'),
  n: refused('other than 1'),
  logprobs: refused('`true` under capture; answers carry no log probabilities'),
  top_logprobs: refused('above 0 under capture; answers carry no log probabilities'),
  prompt: refused('prompt templates are not stored here'),
  moderation: refused('nothing here moderates'),
  messages: refused('without input: a field of the Chat dialect'),
  metadata: ignored(`labels for a provider dashboard; ${REPEATED}`),
  store: ignored(`nothing is stored; ${REPEATED}`),
  user: ignored(`names an end user to a provider; ${REPEATED}`),
  safety_identifier: ignored(`names an end user to a provider; ${REPEATED}`),
  service_tier: ignored(`there is one tier; ${REPEATED}`),
  prompt_cache_key: ignored(`a hint for a provider cache; the engine caches prefixes by itself; ${REPEATED}`),
  prompt_cache_options: ignored(`a hint for a provider cache; the engine caches prefixes by itself; ${REPEATED}`),
  prompt_cache_retention: ignored(`a hint for a provider cache; the engine caches prefixes by itself; ${REPEATED}`),
  max_tool_calls: ignored(`limits tools that the provider runs; ${REPEATED}`),
  stream_options: ignored('streams are not obfuscated'),
  access_programs: ignored("the provider's own bookkeeping"),
  background_options: ignored('for `background: true`, which is refused'),
  context_management: ignored('the history goes up as it was sent; nothing is cut from it'),
  image: ignored('images go up as they were sent'),
  client_metadata: ignored('notes of a client to its provider'),
};

/** What becomes of every field of a Responses request. */
export const RESPONSES_FIELDS: DialectFields = { request, nested: { ...INPUT_TYPES, ...TOOL_TYPES } };
