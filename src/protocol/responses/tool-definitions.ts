import { customGrammar, customToolFunction } from '../custom-tool.ts';
import { type JsonFragment, joinFragments, jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';

/** Chat function definitions for the tools of a Responses request. Schemas are slices of the client's source, never rewritten (C152). */

/** A function tool, or a client-run `tool_search`, under the engine's name for it. Members that a Chat function has no place for stay behind. */
export function functionDefinition(tool: JsonNode, engineName: string): Buffer {
  const members: JsonFragment[] = [jsonMember('name', jsonString(engineName))];
  for (const key of ['description', 'parameters', 'strict']) {
    const value = tool.present(key);
    if (value !== undefined) members.push(`,${jsonString(key)}:`, value.raw());
  }
  return definition(members);
}

/** A function tool that is written in the Chat form already. */
export function nestedDefinition(inner: JsonNode): Buffer {
  return joinFragments(['{"type":"function","function":', inner.raw(), '}']);
}

/** A custom tool as the function that stands for it (C26). */
export function customDefinition(tool: JsonNode, engineName: string): Buffer {
  const description = tool.present('description')?.string() ?? null;
  return Buffer.from(
    customToolFunction({ name: engineName, description, grammar: customGrammar(tool.present('format')) }),
  );
}

function definition(members: readonly JsonFragment[]): Buffer {
  return joinFragments(['{"type":"function","function":{', ...members, '}}']);
}

function jsonMember(key: string, json: string): string {
  return `${jsonString(key)}:${json}`;
}
