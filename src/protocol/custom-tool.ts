import { jsonString } from './json/fragment.ts';
import type { JsonNode } from './json/json-node.ts';

/**
 * Free-text ("custom") tools on an engine that knows functions only (C26 to C28): the tool becomes a function with one string parameter
 * `input`, a call of it comes back as the text, and the echoed call becomes the same function call again.
 */

const PARAMETERS =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

export interface CustomTool {
  readonly name: string;
  readonly description: string | null;
  /** Syntax and definition of a grammar that the input must follow; the engine can only be told about it. */
  readonly grammar: { readonly syntax: string; readonly definition: string } | null;
}

/** The upstream tool: `{"type":"function","function":{...}}`. */
export function customToolFunction(tool: CustomTool): string {
  const grammar =
    tool.grammar === null
      ? null
      : `The input must follow this grammar (${tool.grammar.syntax}):\n${tool.grammar.definition}`;
  const description = [tool.description, grammar].filter((text) => text !== null).join('\n\n');
  const described = description === '' ? '' : `"description":${jsonString(description)},`;
  return `{"type":"function","function":{"name":${jsonString(tool.name)},${described}"parameters":${PARAMETERS}}}`;
}

/** Arguments of the function call that an echoed custom call stands for: `{"input":"..."}`, compact. */
export function customArguments(input: string): string {
  return `{"input":${jsonString(input)}}`;
}

/** Input of the custom call that the engine's arguments stand for; the arguments as they are where they hold no string `input`. */
export function customInput(argumentsText: string): string {
  try {
    const value: unknown = JSON.parse(argumentsText);
    if (typeof value === 'object' && value !== null && 'input' in value && typeof value.input === 'string')
      return value.input;
  } catch {
    // No JSON: the text itself is all that the engine said.
  }
  return argumentsText;
}

/** Reads `format` of a custom tool (Chat nests syntax and definition under `grammar`, Responses does not). Null: free text. */
export function customGrammar(format: JsonNode | undefined): CustomTool['grammar'] {
  if (format?.get('type')?.string() !== 'grammar') return null;
  const grammar = format.present('grammar') ?? format;
  return {
    syntax: grammar.get('syntax')?.string() ?? 'unknown',
    definition: grammar.get('definition')?.string() ?? '',
  };
}
