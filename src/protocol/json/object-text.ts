import { isJsonProblem, parseJsonText } from './parse-json.ts';

const LONE_SURROGATE = /\p{Surrogate}/gu;
/**
 * Deeper arguments are served as a string: the parser of the official Python client reads 200 levels and throws the whole stream away beyond them,
 * and much deeper ones would make the next request, which echoes them, too deep to be read.
 */
const MAX_DEPTH = 190;

/**
 * The text of a JSON object that a client can read as a part of a reply, without white space around it, or null. A lone surrogate becomes its
 * escape, which is the same value.
 */
export function objectText(text: string): string | null {
  const node = parseJsonText(text.isWellFormed() ? text : text.replace(LONE_SURROGATE, escaped), {
    maxDepth: MAX_DEPTH,
  });
  return !isJsonProblem(node) && node.isObject() ? node.rawText() : null;
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}
