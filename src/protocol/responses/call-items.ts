import { readContent, readPart } from '../chat/read-content.ts';
import { type EnginePart, type EngineToolCall, isRefusal, type RequestRefusal } from '../conversation.ts';
import { customArguments } from '../custom-tool.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, wrongType } from '../refusals.ts';
import { singleText, toolText } from '../single-text.ts';
import { isJsonObject } from '../upstream-body.ts';
import type { InputStep } from './fold-turns.ts';
import type { ToolNames } from './tool-names.ts';

/** Calls and their outputs, of every tool that a client runs itself. */

type Converted = InputStep | RequestRefusal;
type Convert = (item: JsonNode, path: string, names: ToolNames) => Converted;

/** Calls by item type. Tools that have an item type of their own are functions of that name to the engine. */
export const CALL_ITEMS: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ['function_call', (item, path, names) => namedCall(item, path, names, (args) => textOf(args))],
  ['custom_tool_call', customCall],
  ['tool_search_call', (item, _path, names) => call(item, names.toolSearchName, textOf(item.present('arguments')))],
  ['local_shell_call', (item) => call(item, 'local_shell', memberArguments(item, 'action'))],
  ['shell_call', (item) => call(item, 'shell', memberArguments(item, 'action'))],
  ['apply_patch_call', (item) => call(item, 'apply_patch', memberArguments(item, 'operation'))],
  ['computer_call', (item) => call(item, 'computer', memberArguments(item, 'actions', 'action'))],
]);

/** Outputs by item type. */
export const OUTPUT_ITEMS: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ['function_call_output', output],
  ['custom_tool_call_output', output],
  ['local_shell_call_output', output],
  ['shell_call_output', jsonOutput],
  ['apply_patch_call_output', patchOutput],
  ['computer_call_output', screenshot],
  ['tool_search_output', searchOutput],
]);

/** The id that pairs a call with its outputs; "" where the client sent none. */
export function callIdOf(item: JsonNode): string {
  return item.present('call_id')?.string() ?? item.present('id')?.string() ?? '';
}

function call(item: JsonNode, name: string, args: string): InputStep {
  const toolCall: EngineToolCall = { id: callIdOf(item), name, arguments: args };
  return { step: 'call', id: item.present('id')?.string() ?? null, call: toolCall };
}

function namedCall(
  item: JsonNode,
  path: string,
  names: ToolNames,
  argumentsOf: (args: JsonNode | undefined) => string,
): Converted {
  const name = item.present('name')?.string();
  if (name === undefined || name === '') return invalid(`${path}.name`, 'a call needs the name of its tool');
  const engineName = names.engineName(item.present('namespace')?.string(), name);
  return call(item, engineName, argumentsOf(item.present('arguments')));
}

function customCall(item: JsonNode, path: string, names: ToolNames): Converted {
  const input = item.present('input');
  if (input !== undefined && !input.isString()) return wrongType(`${path}.input`, 'a string', input);
  return namedCall(item, path, names, () => customArguments(input?.string() ?? ''));
}

/**
 * The arguments that the first of these members comes to: itself, or an object around it where it is none, such as the `actions` of a computer
 * call. Engines take objects alone.
 */
function memberArguments(item: JsonNode, ...names: readonly string[]): string {
  const name = names.find((key) => item.present(key) !== undefined);
  const node = name === undefined ? undefined : item.present(name);
  const text = textOf(node);
  return node === undefined || text === '' || isJsonObject(text) ? text : `{"${name}":${node.rawText()}}`;
}

/** A string, or the source text of what stands in its place. */
function textOf(node: JsonNode | undefined): string {
  return node === undefined ? '' : (node.string() ?? node.rawText());
}

function output(item: JsonNode, path: string): Converted {
  const node = item.present('output');
  if (node === undefined) return outputStep(item, '');
  const text = singleText(node);
  if (text !== undefined) return { step: 'output', output: toolText(text, callIdOf(item)) };
  if (!node.isString() && !node.isArray()) return objectOutput(item, node, path);
  const read = readContent(node, `${path}.output`);
  return isRefusal(read) ? read : outputStep(item, read.content);
}

/** One part without its list, or any other JSON. */
function objectOutput(item: JsonNode, node: JsonNode, path: string): Converted {
  const read = readPart(node, `${path}.output`);
  if (isRefusal(read)) return jsonOutput(item);
  return outputStep(item, read.part.type === 'text' ? read.part.text : [read.part]);
}

function screenshot(item: JsonNode, path: string): Converted {
  const node = item.present('output');
  if (node?.isObject() !== true) return output(item, path);
  const read = readPart(node, `${path}.output`);
  return isRefusal(read) ? read : outputStep(item, [read.part]);
}

/** Without a text of its own, what became of a patch is its status. */
function patchOutput(item: JsonNode, path: string): Converted {
  if (item.present('output') !== undefined) return output(item, path);
  return outputStep(item, textOf(item.present('status')));
}

/** Without tools, what a search came to is its output. */
function searchOutput(item: JsonNode, path: string): Converted {
  const tools = item.present('tools');
  const found = tools !== undefined && (!tools.isArray() || tools.children.length > 0);
  return found || item.present('output') === undefined ? outputStep(item, textOf(tools)) : output(item, path);
}

/** An output that is no text is told as the JSON text that it is. */
function jsonOutput(item: JsonNode): InputStep {
  return outputStep(item, textOf(item.present('output')));
}

function outputStep(item: JsonNode, content: string | readonly EnginePart[]): InputStep {
  return { step: 'output', output: { role: 'tool', content, toolCallId: callIdOf(item) } };
}
