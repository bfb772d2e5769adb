import type { EnginePart } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';

/**
 * Upstream messages put together from the client's own bytes, where they hold one text: most of a history are the outputs of tools, and a
 * text that was written once need not be written again.
 */

const USER = Buffer.from('{"role":"user","content":');
const TOOL = Buffer.from('{"role":"tool","content":');
const TOOL_CALL_ID = Buffer.from(',"tool_call_id":');
const CLOSE = Buffer.from('}');

/** A user message whose content, read as `content`, stands in `node`. Undefined where it is no single text. */
export function verbatimUser(node: JsonNode, content: string | readonly EnginePart[]): Uint8Array | undefined {
  const text = textNode(node, content);
  return text === undefined ? undefined : Buffer.concat([USER, text.raw(), CLOSE]);
}

/** The same for a tool message; the call id stands in `item`. */
export function verbatimTool(
  node: JsonNode,
  content: string | readonly EnginePart[],
  item: JsonNode,
): Uint8Array | undefined {
  const text = textNode(node, content);
  const id = item.present('call_id');
  if (text === undefined || id?.isString() !== true || id.string() === '') return undefined;
  return Buffer.concat([TOOL, text.raw(), TOOL_CALL_ID, id.raw(), CLOSE]);
}

/** The JSON string that holds the text: the content itself, its only part, or the text of that. */
function textNode(node: JsonNode, content: string | readonly EnginePart[]): JsonNode | undefined {
  if (typeof content !== 'string') return undefined;
  const only = node.isArray() && node.children.length === 1 ? node.children[0] : node;
  const text = only?.isObject() === true ? only.get('text') : only;
  return text?.isString() === true ? text : undefined;
}
