import { isRefusal, type RequestRefusal } from '../conversation.ts';
import { jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, notAmongTools, wrongType } from '../refusals.ts';
import { namespaceOf } from './tool-names.ts';
import { type EngineTool, isHostedToolType, type ToolTable } from './tools.ts';

/** `tool_choice` for the engine, as JSON (null: not sent), with the tools that it leaves to choose from. */
export interface ConvertedToolChoice {
  readonly choice: string | null;
  readonly tools: readonly EngineTool[];
}

/**
 * `tool_choice` in all its forms. A choice of a hosted tool cannot be kept, since the tool is left out: the model chooses freely.
 * `allowed_tools` narrows the tools themselves, since engines know no other way. Without any tool nothing is sent, as engines refuse it.
 */
export function convertToolChoice(node: JsonNode | undefined, table: ToolTable): ConvertedToolChoice | RequestRefusal {
  const { tools } = table;
  if (node === undefined) return { choice: null, tools };
  if (node.isObject() && node.get('type')?.string() === 'allowed_tools') return allowedTools(node, table);
  const choice = node.isObject() ? namedTool(node, table) : chosenMode(node);
  if (typeof choice === 'object' && choice !== null) return choice;
  return demandedTool(choice, tools) ?? { choice: tools.length === 0 ? null : choice, tools };
}

function chosenMode(node: JsonNode): string | RequestRefusal {
  const mode = node.string();
  if (mode === undefined) return wrongType('tool_choice', 'a string or an object', node);
  if (mode === 'none' || mode === 'auto' || mode === 'required') return jsonString(mode);
  return invalid('tool_choice', 'expected "none", "auto", "required" or an object that names a tool');
}

/** A choice that demands a call makes no sense where there is nothing to call. */
function demandedTool(choice: string | null, tools: readonly EngineTool[]): RequestRefusal | null {
  if (tools.length > 0 || choice === null || choice === '"auto"' || choice === '"none"') return null;
  return invalid('tool_choice', 'demands a tool call, but the request has no function or custom tool');
}

function namedTool(node: JsonNode, table: ToolTable): string | null | RequestRefusal {
  const name = engineNameOf(node, 'tool_choice', table);
  if (name === null || typeof name !== 'string') return name;
  if (table.tools.length > 0 && !table.clientTools.has(name)) return notAmongTools(name);
  return `{"type":"function","function":{"name":${jsonString(name)}}}`;
}

/** The engine's name for a tool reference; null for a hosted tool. */
function engineNameOf(node: JsonNode, path: string, table: ToolTable): string | null | RequestRefusal {
  const type = node.get('type')?.string();
  if (type === 'function' || type === 'custom') {
    const name = (
      node.present('name') ??
      node.present('function')?.present('name') ??
      node.present('custom')?.present('name')
    )?.string();
    if (name === undefined) return invalid(`${path}.name`, 'expected the name of a tool');
    return table.names.engineName(node.present('namespace')?.string(), name);
  }
  if (type === 'tool_search')
    return table.tools.some((tool) => tool.client.kind === type) ? table.names.toolSearchName : null;
  if (type !== undefined && isHostedToolType(type)) return null;
  return type === undefined
    ? invalid(`${path}.type`, 'expected a type, such as "function"')
    : invalid(`${path}.type`, `the tool type ${JSON.stringify(type)} is not known here`);
}

function allowedTools(node: JsonNode, table: ToolTable): ConvertedToolChoice | RequestRefusal {
  const inner = node.present('allowed_tools') ?? node;
  const mode = inner.present('mode')?.string() ?? 'auto';
  if (mode !== 'auto' && mode !== 'required') return invalid('tool_choice.mode', 'expected "auto" or "required"');
  const listed = inner.present('tools');
  if (listed?.isArray() !== true) return wrongType('tool_choice.tools', 'an array of tools', listed);
  const allowed = new Set<string>();
  let undeclared: string | undefined;
  for (const [at, tool] of listed.elements().entries()) {
    if (tool.get('type')?.string() === 'namespace') {
      const name = tool.present('name')?.string();
      const members = table.tools.filter(({ client }) => client.namespace === namespaceOf(name));
      for (const { engineName } of members) allowed.add(engineName);
      if (members.length === 0) undeclared ??= name ?? '';
      continue;
    }
    const name = engineNameOf(tool, `tool_choice.tools[${at}]`, table);
    if (isRefusalOf(name)) return name;
    if (name === null) continue;
    if (table.clientTools.has(name)) allowed.add(name);
    else undeclared ??= name;
  }
  if (allowed.size === 0 && undeclared !== undefined) return notAmongTools(undeclared);
  const tools = table.tools.filter((tool) => allowed.has(tool.engineName));
  const choice = jsonString(mode);
  return demandedTool(choice, tools) ?? { choice: tools.length === 0 ? null : choice, tools };
}

function isRefusalOf(value: string | null | RequestRefusal): value is RequestRefusal {
  return value !== null && typeof value === 'object' && isRefusal(value);
}
