import type { RequestRefusal } from './conversation.ts';
import { type FieldFate, type FieldTable, ignored, mapped, refused } from './field-table.ts';
import type { JsonFragment } from './json/fragment.ts';
import type { JsonNode } from './json/json-node.ts';
import { invalid, wrongType } from './refusals.ts';

/** Types of the fields that go up as they are. A field of another type is refused here, since the engine would refuse it after the intent. */
export type FieldType =
  | 'number'
  | 'integer'
  | 'boolean'
  | 'string'
  | 'array'
  | 'object'
  | 'string or strings'
  | 'string or object'
  | 'any';

/** Sampling fields that Chat and the other dialects' fields of the same name share with the engine. */
export const SAMPLING_FIELDS: Readonly<Record<string, FieldType>> = {
  temperature: 'number',
  top_p: 'number',
  frequency_penalty: 'number',
  presence_penalty: 'number',
  seed: 'integer',
  stop: 'string or strings',
  logit_bias: 'object',
  max_tokens: 'integer',
  max_completion_tokens: 'integer',
};

/** What vLLM takes beside the official fields, in every dialect (design.md, "What goes up and down"). */
export const ENGINE_EXTRAS: Readonly<Record<string, FieldType>> = {
  top_k: 'integer',
  min_p: 'number',
  repetition_penalty: 'number',
  length_penalty: 'number',
  use_beam_search: 'boolean',
  min_tokens: 'integer',
  stop_token_ids: 'array',
  include_stop_str_in_output: 'boolean',
  ignore_eos: 'boolean',
  skip_special_tokens: 'boolean',
  spaces_between_special_tokens: 'boolean',
  allowed_token_ids: 'array',
  bad_words: 'array',
  thinking_token_budget: 'integer',
  include_reasoning: 'boolean',
  structured_outputs: 'object',
  guided_json: 'any',
  guided_regex: 'string',
  guided_choice: 'array',
  guided_grammar: 'string',
  guided_decoding_backend: 'string',
  guided_whitespace_pattern: 'string',
  structural_tag: 'any',
  cache_salt: 'string',
  vllm_xargs: 'object',
  add_special_tokens: 'boolean',
  documents: 'array',
  chat_template_kwargs: 'object',
  mm_processor_kwargs: 'object',
  media_io_kwargs: 'object',
};

/** Extras that change the prompt's shape: forwarded where they are not refused, and only where they differ from the default. */
const PROMPT_EXTRAS = Object.entries<{ readonly type: FieldType; readonly standard: boolean | null }>({
  truncate_prompt_tokens: { type: 'integer', standard: null },
  add_generation_prompt: { type: 'boolean', standard: true },
  continue_final_message: { type: 'boolean', standard: false },
  echo: { type: 'boolean', standard: false },
  chat_template: { type: 'string', standard: null },
});

const HOLDS_STATE = 'every path: this proxy keeps no conversation';

/** Fates of the fields that no dialect has of its own: the engine's extras, fields of another dialect, names that are known from clients. */
export const SHARED_FIELDS: FieldTable = {
  ...Object.fromEntries(
    Object.keys(ENGINE_EXTRAS).map((name): [string, FieldFate] => [name, mapped('as it is (vLLM)')]),
  ),
  chat_template_kwargs: mapped('as it is (vLLM); it cannot say what is refused as a field of its own'),
  vllm_xargs: mapped('as it is (vLLM), without `kv_transfer_params`'),
  truncate_prompt_tokens: refused('under capture; goes up otherwise'),
  continue_final_message: refused('`true` under capture; goes up otherwise'),
  add_generation_prompt: refused('`false` under capture; goes up otherwise'),
  chat_template: refused('unless configuration allows it; then it goes up'),
  echo: refused('`true` under capture; goes up otherwise'),
  best_of: refused('other than 1'),
  logits_processors: refused('names code to run in the engine'),
  previous_response_id: refused(HOLDS_STATE),
  conversation: refused(HOLDS_STATE),
  background: refused('`true`: answers are not stored'),
  truncation: refused('`"auto"` under capture'),
  request_id: ignored('the agent must not choose the completion id'),
  priority: ignored("scheduling is the operator's"),
  kv_transfer_params: ignored("cache transfer is the operator's"),
};

/**
 * Copies the members of `body` that `types` names into `into`, as they stand (null: left out). A member of another type is a refusal.
 * Order is that of the body.
 */
export function forwardFields(
  body: JsonNode,
  types: Readonly<Record<string, FieldType>>,
  into: Map<string, JsonFragment>,
): RequestRefusal | null {
  for (const name of new Set(body.keys)) {
    if (!Object.hasOwn(types, name)) continue;
    const node = body.present(name);
    if (node === undefined) continue;
    const type = types[name] as FieldType;
    if (!isOfType(node, type)) return wrongType(name, article(type), node);
    into.set(name, node.fragment());
  }
  return null;
}

/** A limit of less than one token, by any of these names, asks for no answer, such as to warm a provider's cache; an engine refuses it. */
export function emptyAnswer(body: JsonNode, ...names: readonly string[]): RequestRefusal | null {
  for (const name of names) {
    const limit = body.present(name)?.number();
    if (limit !== undefined && limit < 1) return invalid(name, 'expected at least 1');
  }
  return null;
}

/**
 * Copies what shapes the prompt (`add_generation_prompt`, `continue_final_message`, ...) where it is no default; run {@link sharedRefusal}
 * first, which refuses what is refused under capture or needs configuration.
 */
export function forwardPromptFields(body: JsonNode, into: Map<string, JsonFragment>): RequestRefusal | null {
  for (const [name, { type, standard }] of PROMPT_EXTRAS) {
    const node = body.present(name);
    if (node === undefined) continue;
    if (!isOfType(node, type)) return wrongType(name, article(type), node);
    if (node.boolean() === undefined || node.boolean() !== standard) into.set(name, node.fragment());
  }
  return null;
}

function isOfType(node: JsonNode, type: FieldType): boolean {
  switch (type) {
    case 'number':
      return Number.isFinite(node.number());
    case 'integer':
      return Number.isInteger(node.number());
    case 'boolean':
      return node.boolean() !== undefined;
    case 'string':
      return node.isString();
    case 'array':
      return node.isArray();
    case 'object':
      return node.isObject();
    case 'string or strings':
      return node.isString() || (node.isArray() && node.elements().every((element) => element.isString()));
    case 'string or object':
      return node.isString() || node.isObject();
    case 'any':
      return true;
    default: {
      const never: never = type;
      return never;
    }
  }
}

function article(type: FieldType): string {
  if (type === 'string or strings') return 'a string or an array of strings';
  if (type === 'number') return 'a finite number';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
