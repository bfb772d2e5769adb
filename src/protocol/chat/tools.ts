import { type ClientTool, isRefusal, type RequestRefusal } from '../conversation.ts';
import { customGrammar, customToolFunction } from '../custom-tool.ts';
import { type JsonFragment, joinFragments, jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { NOTHING_ELSE } from '../json/memo.ts';
import { readMemo } from '../read-memo.ts';
import { invalid, notAmongTools, saidType, unsupported, wrongType } from '../refusals.ts';
import { hasExactly } from './read-content.ts';

/** `tools` and `tool_choice` of a Chat request for an engine that knows functions only. Schemas go up byte for byte. */
export interface ConvertedTools {
  /** `tools` as JSON, null where there are none (engines refuse an empty list). */
  readonly tools: JsonFragment | null;
  /** `tool_choice` as JSON, null where none goes up. */
  readonly choice: JsonFragment | null;
  /** Custom tools by name, so that their calls come back as custom calls. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
}

interface Tool {
  readonly name: string;
  readonly custom: boolean;
  readonly json: JsonFragment;
  readonly exact: boolean;
}

export function convertTools(body: JsonNode): ConvertedTools | RequestRefusal {
  const list = body.present('tools');
  const all = list === undefined ? NO_TOOLS : LISTS.of(list, NOTHING_ELSE, () => readTools(list));
  if (isRefusal(all)) return all;
  const { tools, clientTools } = all;
  const chosen = readChoice(body.present('tool_choice'), tools);
  if (isRefusal(chosen)) return chosen;
  const { kept, choice } = chosen;
  return { tools: kept.length === tools.length ? all.json : toolList(kept), choice, clientTools };
}

/** A list of tools, and its JSON for where all of them go up. */
interface ToolList {
  readonly tools: readonly Tool[];
  readonly json: JsonFragment | null;
  readonly clientTools: ReadonlyMap<string, ClientTool>;
}

const NO_TOOLS: ToolList = { tools: [], json: null, clientTools: new Map() };
/** An agent sends the same tools with every call. */
const LISTS = readMemo<ToolList>();

function readTools(list: JsonNode): ToolList | RequestRefusal {
  if (!list.isArray()) return wrongType('tools', 'an array', list);
  const tools: Tool[] = [];
  for (const [at, node] of list.children.entries()) {
    const tool = readTool(node, `tools[${at}]`);
    if (isRefusal(tool)) return tool;
    tools.push(tool);
  }
  const json = tools.length > 0 && tools.every((tool) => tool.exact) ? list.raw() : toolList(tools);
  const custom = tools.filter((tool) => tool.custom);
  return {
    tools,
    json,
    clientTools: new Map(custom.map(({ name }) => [name, { kind: 'custom', name, namespace: null }])),
  };
}

function toolList(tools: readonly Tool[]): JsonFragment | null {
  if (tools.length === 0) return null;
  return joinFragments(['[', ...tools.flatMap((tool, at) => (at === 0 ? [tool.json] : [',', tool.json])), ']']);
}

function readTool(node: JsonNode, path: string): Tool | RequestRefusal {
  if (!node.isObject()) return wrongType(path, 'an object', node);
  const said = saidType(node, path);
  if (isRefusal(said)) return said;
  const type = said.type ?? 'function';
  if (type === 'custom') return readCustomTool(node, path);
  if (type !== 'function')
    return unsupported(`${path}.type`, `tools of type ${JSON.stringify(type)} are not supported; declare functions`);
  const body = node.present('function');
  if (body === undefined && node.present('name') !== undefined) return readFlatTool(node, path);
  if (body === undefined || !body.isObject()) return wrongType(`${path}.function`, 'an object', body);
  const name = body.get('name')?.string();
  if (name === undefined || name === '') return invalid(`${path}.function.name`, 'expected the name of the function');
  const exact = said.type !== undefined && hasExactly(node, 'type', 'function');
  const json = exact ? node.raw() : joinFragments(['{"type":"function","function":', body.raw(), '}']);
  return { name, custom: false, json, exact };
}

/** A function as the Responses dialect declares it. */
function readFlatTool(node: JsonNode, path: string): Tool | RequestRefusal {
  const name = node.get('name')?.string();
  if (name === undefined || name === '') return invalid(`${path}.name`, 'expected the name of the function');
  const members = ['description', 'parameters', 'strict'].flatMap((key): JsonFragment[] => {
    const value = node.present(key);
    return value === undefined ? [] : [`,${jsonString(key)}:`, value.raw()];
  });
  const json = joinFragments([`{"type":"function","function":{"name":${jsonString(name)}`, ...members, '}}']);
  return { name, custom: false, json, exact: false };
}

function readCustomTool(node: JsonNode, path: string): Tool | RequestRefusal {
  const body = node.present('custom') ?? node;
  const name = body.get('name')?.string();
  if (name === undefined || name === '') return invalid(`${path}.custom.name`, 'expected the name of the tool');
  const description = body.present('description')?.string() ?? null;
  const json = customToolFunction({ name, description, grammar: customGrammar(body.present('format')) });
  return { name, custom: true, json, exact: false };
}

interface Chosen {
  readonly kept: readonly Tool[];
  readonly choice: JsonFragment | null;
}

/** `tool_choice` in all its forms. Without tools a free choice is no choice, and engines refuse it. */
function readChoice(node: JsonNode | undefined, tools: readonly Tool[]): Chosen | RequestRefusal {
  if (node === undefined) return { kept: tools, choice: null };
  if (node.isString()) return chosenMode(node, node.string() as string, 'tool_choice', tools);
  if (!node.isObject()) return wrongType('tool_choice', 'a string or an object', node);
  if (node.get('type')?.string() === 'allowed_tools') return allowedTools(node, tools);
  const name = toolName(node);
  if (name === undefined)
    return invalid('tool_choice', 'expected "none", "auto", "required" or an object that names a tool');
  const named = tools.find((tool) => tool.name === name);
  if (named === undefined) return notAmongTools(name);
  return { kept: tools, choice: `{"type":"function","function":{"name":${jsonString(name)}}}` };
}

function chosenMode(node: JsonNode, mode: string, path: string, kept: readonly Tool[]): Chosen | RequestRefusal {
  if (mode !== 'none' && mode !== 'auto' && mode !== 'required')
    return invalid(path, `expected "none", "auto" or "required", got ${JSON.stringify(mode)}`);
  if (kept.length > 0) return { kept, choice: node.fragment() };
  return mode === 'required' ? invalid(path, 'demands a tool call, but there are no tools') : { kept, choice: null };
}

/** Engines cannot restrict the choice to some of the tools, so the others are left out. */
function allowedTools(node: JsonNode, tools: readonly Tool[]): Chosen | RequestRefusal {
  const inner = node.present('allowed_tools') ?? node;
  const listed = inner.present('tools');
  if (listed?.isArray() !== true) return wrongType('tool_choice.allowed_tools.tools', 'an array', listed);
  const names = listed.elements().map(toolName);
  const allowed = new Set(names);
  const kept = tools.filter((tool) => allowed.has(tool.name));
  if (kept.length === 0 && names.length > 0) return notAmongTools(names[0] ?? '');
  const mode = inner.present('mode');
  if (mode === undefined) return { kept, choice: null };
  const word = mode.string();
  if (word === undefined) return wrongType('tool_choice.allowed_tools.mode', 'a string', mode);
  return chosenMode(mode, word, 'tool_choice.allowed_tools.mode', kept);
}

function toolName(node: JsonNode): string | undefined {
  return (node.present('function') ?? node.present('custom') ?? node).get('name')?.string();
}
