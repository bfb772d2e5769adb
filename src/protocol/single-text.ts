import type { ToolMessage, UserMessage } from './conversation.ts';
import type { JsonNode } from './json/json-node.ts';
import type { MemoEntry } from './json/memo.ts';

/**
 * Messages that are one text of the client's. Most of a history are such, and nobody asks again for the text of one that was seen before: it goes up and is
 * hashed as the bytes that came, and is decoded where somebody reads `content`.
 */

const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

/** The JSON string that holds the text of a content: the content itself, its only element, or the text of its only part. Undefined where it is anything else. */
export function singleText(content: JsonNode | undefined): JsonNode | undefined {
  if (content === undefined || content.isString()) return content;
  const only = content.isArray() && content.children.length === 1 ? content.children[0] : undefined;
  const text = only !== undefined && TEXT_TYPES.has(only.get('type')?.string() ?? '') ? only.get('text') : only;
  return text?.isString() === true ? text : undefined;
}

/** Of a class, since an object with a getter of its own has a hidden class of its own, too, which makes every look at it slow. */
class TextMessage<Role extends 'system' | 'user' | 'tool'> {
  readonly role: Role;
  readonly textNode: JsonNode;
  readonly verbatim: Uint8Array | undefined;
  /** Of a tool message; else empty. */
  readonly toolCallId: string;
  memo: MemoEntry | undefined = undefined;

  constructor(role: Role, textNode: JsonNode, verbatim: Uint8Array | undefined, toolCallId: string) {
    this.role = role;
    this.textNode = textNode;
    this.verbatim = verbatim;
    this.toolCallId = toolCallId;
  }

  get content(): string {
    return this.textNode.string() as string;
  }
}

/** A system or user message of one text. `verbatim`: the message as the client sent it, where it can go up so. */
export function spokenText<Role extends 'system' | 'user'>(
  role: Role,
  textNode: JsonNode,
  verbatim: Uint8Array | undefined,
): TextMessage<Role> {
  return new TextMessage(role, textNode, verbatim, '');
}

/** A user message of one text. `item` is what the client sent for it, and goes up itself where it is nothing but a role and this text. */
export function userText(textNode: JsonNode, item: JsonNode): UserMessage {
  return spokenText('user', textNode, plainMessage(item));
}

/** What the client sent for a message, where that is the upstream message already: a role and one string, nothing else. */
export function plainMessage(item: JsonNode): Uint8Array | undefined {
  const isPlain =
    item.keys.length === 2 && item.get('content')?.isString() === true && item.get('role')?.isString() === true;
  return isPlain ? item.raw() : undefined;
}

/** A tool message of one text. */
export function toolText(textNode: JsonNode, toolCallId: string, verbatim?: Uint8Array): ToolMessage {
  return new TextMessage('tool', textNode, verbatim, toolCallId);
}
