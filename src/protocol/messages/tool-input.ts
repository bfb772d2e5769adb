import { jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { objectText } from '../json/object-text.ts';

/** Names of tools that declare a parameter `_raw` of their own: their inputs are never read as wrapped text. */
export type DeclaresRaw = (tool: string) => boolean;

const WRAPPER = '_raw';

/**
 * `input` of a `tool_use` block for a call's arguments: their own source text where it is a JSON object, so that numbers, key order and
 * escapes survive; `{"_raw": text}` where it is not (C39, C40). The inverse is {@link argumentsText}.
 */
export function inputJson(callArguments: string): string {
  if (callArguments === '') return '{}';
  return objectText(callArguments) ?? `{"${WRAPPER}":${jsonString(callArguments)}}`;
}

/** Arguments of a call, for the `input` that a client sent: its source text, or the text that we had wrapped. */
export function argumentsText(input: JsonNode | undefined, tool: string, declaresRaw: DeclaresRaw): string {
  if (input === undefined || input.isNull()) return '{}';
  if (input.isString()) return input.string() as string;
  const wrapped = wrappedText(input);
  if (wrapped !== undefined && !declaresRaw(tool)) return wrapped;
  return input.rawText();
}

/** Whether an input has the shape of a wrapped text. */
export function isWrapped(input: JsonNode): boolean {
  return input.isObject() && input.keys.length === 1 && input.keys[0] === WRAPPER;
}

function wrappedText(input: JsonNode): string | undefined {
  if (!isWrapped(input)) return undefined;
  const text = input.get(WRAPPER)?.string();
  return text === undefined || text === '' || objectText(text) !== null ? undefined : text;
}
