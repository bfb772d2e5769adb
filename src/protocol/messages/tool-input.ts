import { jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../json/parse-json.ts';

/** Names of tools that declare a parameter `_raw` of their own: their inputs are never read as wrapped text. */
export type DeclaresRaw = (tool: string) => boolean;

const WRAPPER = '_raw';
const LONE_SURROGATE = /\p{Surrogate}/gu;
/**
 * Deeper arguments are wrapped: the parser of the official Python client reads 200 levels and throws the whole stream away beyond them, and much deeper ones would make
 * the next request, which echoes them, too deep to be read.
 */
const MAX_DEPTH = 190;

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

/** The text of a JSON object, without white space around it, or null. A lone surrogate becomes its escape, which is the same value. */
function objectText(text: string): string | null {
  const node = parseJsonText(text.isWellFormed() ? text : text.replace(LONE_SURROGATE, escaped), {
    maxDepth: MAX_DEPTH,
  });
  return !isJsonProblem(node) && node.isObject() ? node.rawText() : null;
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}
