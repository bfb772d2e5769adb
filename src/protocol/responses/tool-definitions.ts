import { customGrammar, customToolFunction } from '../custom-tool.ts';
import { type JsonFragment, jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';

/** Chat function definitions for the tools of a Responses request. Schemas are slices of the client's source, never rewritten (C152). */

/** Members of a function tool that a Chat function has, too. The others stay behind. */
const FUNCTION_MEMBERS: readonly string[] = ['name', 'description', 'parameters', 'strict'];

const OPEN = '{"type":"function","function":{"name":';
const CLOSE = '}}';

/** A function tool, or a client-run `tool_search`, under the engine's name for it. */
export function functionDefinition(tool: JsonNode, engineName: string): readonly JsonFragment[] {
  const slice = memberSlice(tool, engineName);
  if (slice !== null) return [OPEN, slice, CLOSE];
  const fragments: JsonFragment[] = [`${OPEN}${jsonString(engineName)}`];
  for (const key of FUNCTION_MEMBERS.slice(1)) {
    const value = tool.present(key);
    if (value !== undefined) fragments.push(`,"${key}":`, value.raw());
  }
  fragments.push(CLOSE);
  return fragments;
}

/** The members from the value of `name` on as they stand, if nothing but them stands there; null if they must be picked. */
function memberSlice(tool: JsonNode, engineName: string): Buffer | null {
  const { keys, children } = tool;
  const first = keys.indexOf('name');
  const name = children[first];
  const last = children.at(-1);
  if (name === undefined || last === undefined || name.string() !== engineName) return null;
  for (let at = first; at < keys.length; at++) {
    const key = keys[at] as string;
    if (!FUNCTION_MEMBERS.includes(key) || children[at]?.isNull() !== false || keys.indexOf(key) !== at) return null;
  }
  for (let at = 0; at < first; at++) if (keys[at] !== 'type') return null;
  return tool.bytes.subarray(name.start, last.end);
}

/** A function tool that is written in the Chat form already. */
export function nestedDefinition(inner: JsonNode): readonly JsonFragment[] {
  return ['{"type":"function","function":', inner.raw(), '}'];
}

/** A custom tool as the function that stands for it (C26). */
export function customDefinition(tool: JsonNode, engineName: string): readonly JsonFragment[] {
  const description = tool.present('description')?.string() ?? null;
  return [customToolFunction({ name: engineName, description, grammar: customGrammar(tool.present('format')) })];
}
