import { isRefusal, type RequestRefusal } from '../conversation.ts';
import { fragmentText, type JsonFragment, joinFragments, jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { NOTHING_ELSE } from '../json/memo.ts';
import { isJsonProblem, parseJsonText } from '../json/parse-json.ts';
import { readMemo } from '../read-memo.ts';
import { invalid, saidType, unsupported, wrongType } from '../refusals.ts';
import { quoted } from './quoted.ts';
import type { DeclaresRaw } from './tool-input.ts';

/** Tools that the provider itself runs. No engine has them; the model works on without (C32). */
const SERVER_TOOL = /^(?:web_search|web_fetch|code_execution|tool_search_tool|advisor)_/;
/** Tools that the agent runs but whose schema only the provider's own models know. */
const PROVIDER_SCHEMA_TOOL = /^(?:bash|text_editor|computer|memory|browser_toolset|computer_toolset)_[0-9]{8}$/;

const NO_SCHEMA = '{"type":"object","properties":{}}';

export interface ConvertedTools {
  /** `tools` of the upstream body; null where none are left. */
  readonly json: JsonFragment | null;
  readonly names: ReadonlySet<string>;
  /** Server tools that were left out: name -> type. */
  readonly leftOut: ReadonlyMap<string, string>;
}

const CONVERTED = readMemo<ConvertedTools>();

/** `tools`: custom tools become functions, their schemas byte for byte. */
export function convertTools(tools: JsonNode | undefined): ConvertedTools | RequestRefusal {
  return tools === undefined ? NO_TOOLS : CONVERTED.of(tools, NOTHING_ELSE, () => convertList(tools));
}

const NO_TOOLS: ConvertedTools = { json: null, names: new Set(), leftOut: new Map() };

function convertList(tools: JsonNode): ConvertedTools | RequestRefusal {
  const names = new Set<string>();
  const leftOut = new Map<string, string>();
  const functions: JsonFragment[] = [];
  if (!tools.isArray()) return wrongType('tools', 'an array', tools);
  for (const [at, tool] of tools.elements().entries()) {
    const path = `tools[${at}]`;
    if (!tool.isObject()) return wrongType(path, 'an object', tool);
    const said = saidType(tool, path);
    if (isRefusal(said)) return said;
    const type = said.type ?? 'custom';
    if (SERVER_TOOL.test(type)) {
      leftOut.set(tool.get('name')?.string() ?? type, type);
      continue;
    }
    if (type !== 'custom') return unsupportedTool(type, path);
    const name = tool.get('name')?.string();
    if (name === undefined || name === '') return invalid(`${path}.name`, 'expected the name of the tool');
    const converted = functionTool(tool, name, path);
    if (isRefusal(converted)) return converted;
    names.add(name);
    functions.push(functions.length === 0 ? '' : ',', ...converted);
  }
  return { json: functions.length === 0 ? null : joinFragments(['[', ...functions, ']']), names, leftOut };
}

function unsupportedTool(type: string, path: string): RequestRefusal {
  if (PROVIDER_SCHEMA_TOOL.test(type))
    return unsupported(
      `${path}.type`,
      `the schema of ${quoted(type)} is known to the provider's own models only; declare the tool with "name", "description" and "input_schema"`,
    );
  return unsupported(
    `${path}.type`,
    `tools of type ${quoted(type)} are not supported; declare custom tools with an "input_schema"`,
  );
}

function functionTool(tool: JsonNode, name: string, path: string): JsonFragment[] | RequestRefusal {
  const description = tool.present('description');
  if (description !== undefined && !description.isString())
    return wrongType(`${path}.description`, 'a string', description);
  const schema = tool.present('input_schema');
  if (schema !== undefined && !schema.isObject()) return wrongType(`${path}.input_schema`, 'an object', schema);
  const strict = tool.present('strict');
  if (strict !== undefined && strict.boolean() === undefined) return wrongType(`${path}.strict`, 'a boolean', strict);
  return [
    `{"type":"function","function":{"name":${jsonString(name)}`,
    ...(description === undefined ? [] : [',"description":', description.raw()]),
    ',"parameters":',
    schema?.raw() ?? NO_SCHEMA,
    ...(strict === undefined ? [] : [',"strict":', strict.raw()]),
    '}}',
  ];
}

/** `tool_choice` as upstream fields: `tool_choice` and, only where the client turns it off, `parallel_tool_calls`. */
export function convertToolChoice(
  choice: JsonNode | undefined,
  tools: ConvertedTools,
): [name: string, json: string][] | RequestRefusal {
  if (choice === undefined) return [];
  if (!choice.isObject()) return wrongType('tool_choice', 'an object', choice);
  const serial = choice.present('disable_parallel_tool_use');
  if (serial !== undefined && serial.boolean() === undefined)
    return wrongType('tool_choice.disable_parallel_tool_use', 'a boolean', serial);
  const value = choiceValue(choice, tools);
  if (value === null) return [];
  if (typeof value !== 'string') return value;
  const fields: [string, string][] = [['tool_choice', value]];
  if (serial?.boolean() === true) fields.push(['parallel_tool_calls', 'false']);
  // Without tools an engine refuses every choice but "none", which says nothing there.
  return tools.json === null ? [] : fields;
}

/** Null where the choice is for a server tool that was left out. */
function choiceValue(choice: JsonNode, tools: ConvertedTools): string | null | RequestRefusal {
  const type = choice.get('type')?.string();
  switch (type) {
    case 'auto':
    case 'none':
      return jsonString(type);
    case 'any':
      return tools.json === null
        ? invalid('tool_choice', 'demands a tool call, but the request has no tool that the agent runs')
        : '"required"';
    case 'tool': {
      const name = choice.get('name')?.string();
      if (name === undefined) return invalid('tool_choice.name', 'expected the name of a tool');
      if (tools.leftOut.has(name)) return null;
      if (!tools.names.has(name))
        return invalid('tool_choice.name', `${quoted(name)} is not among the tools of this request`);
      return `{"type":"function","function":{"name":${jsonString(name)}}}`;
    }
    default:
      return invalid(
        'tool_choice.type',
        `the type ${quoted(type)} is not known here; use "auto", "any", "tool" or "none"`,
      );
  }
}

/** Which of the upstream `tools` declare a parameter `_raw`. Looked up only when an input has that shape, which is rare. */
export function rawDeclarations(tools: JsonFragment | null | undefined): DeclaresRaw {
  if (tools === null || tools === undefined) return DECLARE_NONE;
  if (typeof tools === 'string') return lookUp(tools);
  const known = DECLARATIONS.get(tools) ?? lookUp(tools);
  DECLARATIONS.set(tools, known);
  return known;
}

const DECLARE_NONE: DeclaresRaw = () => false;
const DECLARATIONS = new WeakMap<Uint8Array, DeclaresRaw>();

function lookUp(tools: JsonFragment): DeclaresRaw {
  let names: ReadonlySet<string> | undefined;
  return (tool) => {
    names ??= toolsWithRaw(tools);
    return names.has(tool);
  };
}

function toolsWithRaw(tools: JsonFragment): ReadonlySet<string> {
  const names = new Set<string>();
  const list = parseJsonText(fragmentText(tools));
  if (isJsonProblem(list)) return names;
  for (const tool of list.elements()) {
    const declared = tool.get('function');
    const name = declared?.get('name')?.string();
    if (name !== undefined && declared?.get('parameters')?.get('properties')?.get('_raw') !== undefined)
      names.add(name);
  }
  return names;
}
