import type { RequestRefusal } from '../conversation.ts';
import { type JsonFragment, joinFragments } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, unsupported, wrongType } from '../refusals.ts';
import { ENGINE_EXTRAS, emptyAnswer, type FieldType, forwardFields, forwardPromptFields } from '../sampling-fields.ts';
import { quoted } from './quoted.ts';

type Fields = Map<string, JsonFragment>;

/** Fields that the engine has under the same name. `seed` and the like are not official here, but cost nothing to carry. */
const SAME_NAME: Readonly<Record<string, FieldType>> = {
  max_tokens: 'integer',
  temperature: 'number',
  top_p: 'number',
  frequency_penalty: 'number',
  presence_penalty: 'number',
  seed: 'integer',
  logit_bias: 'object',
  ...ENGINE_EXTRAS,
};

/** Everything that goes up beside messages and tools, in the order of the upstream Chat body. */
export function convertFields(body: JsonNode, fields: Fields): RequestRefusal | null {
  return (
    forwardFields(body, SAME_NAME, fields) ??
    emptyAnswer(body, 'max_tokens') ??
    forwardPromptFields(body, fields) ??
    convertStop(body.present('stop_sequences'), fields) ??
    convertOutput(body, fields)
  );
}

function convertStop(stop: JsonNode | undefined, fields: Fields): RequestRefusal | null {
  if (stop === undefined) return null;
  if (!stop.isArray()) return wrongType('stop_sequences', 'an array of strings', stop);
  for (const [at, sequence] of stop.elements().entries())
    if (!sequence.isString()) return wrongType(`stop_sequences[${at}]`, 'a string', sequence);
  if (stop.elements().length > 0) fields.set('stop', stop.fragment());
  return null;
}

/** `output_config` (effort, format) and the older `output_format`. */
function convertOutput(body: JsonNode, fields: Fields): RequestRefusal | null {
  const config = body.present('output_config');
  if (config !== undefined && !config.isObject()) return wrongType('output_config', 'an object', config);
  const effort = config?.present('effort');
  if (effort !== undefined) {
    if (!effort.isString()) return wrongType('output_config.effort', 'a string', effort);
    fields.set('reasoning_effort', effort.fragment());
  }
  const current = config?.present('format');
  const format = current ?? body.present('output_format');
  if (format === undefined) return null;
  const converted = responseFormat(format, current === undefined ? 'output_format' : 'output_config.format');
  if (typeof converted !== 'string' && 'refused' in converted) return converted;
  fields.set('response_format', converted);
  return null;
}

/** Structured output always holds to the schema, so it is `strict`; the engine wants a name, which says nothing. */
function responseFormat(format: JsonNode, path: string): JsonFragment | RequestRefusal {
  if (!format.isObject()) return wrongType(path, 'an object', format);
  const type = format.get('type')?.string();
  if (type !== 'json_schema')
    return invalid(`${path}.type`, `the type ${quoted(type)} is not known here; use "json_schema"`);
  const schema = format.get('schema');
  if (!schema?.isObject()) return wrongType(`${path}.schema`, 'a JSON schema', schema);
  return joinFragments([
    '{"type":"json_schema","json_schema":{"name":"output","strict":true,"schema":',
    schema.raw(),
    '}}',
  ]);
}

const NO_STATE = 'this proxy keeps no conversation; send the full history in every request';

/** Fields of the dialect that would change what the answer means, and that nothing here can do. */
export function dialectRefusal(body: JsonNode, purpose: 'answer' | 'count'): RequestRefusal | null {
  for (const [name, advice, details] of REFUSED) {
    const value = body.present(name);
    if (value === undefined || (value.isArray() && value.elements().length === 0)) continue;
    if (purpose === 'count' && name === 'compaction') continue;
    return unsupported(name, advice, details);
  }
  return null;
}

const REFUSED: readonly (readonly [name: string, advice: string, details?: object])[] = [
  [
    'mcp_servers',
    'not supported: the model is not connected to MCP servers here; connect the agent to them and declare their tools',
  ],
  ['container', 'not supported: nothing is executed here; remove the field'],
  ['compaction', 'not supported: let the agent summarize its history in an ordinary request'],
  // The official tool runners ask for one first. Told so, they send the whole history instead.
  ['thread', `not supported: ${NO_STATE}`, { error_code: 'thread_unsupported_request', unsupported: [] }],
];
