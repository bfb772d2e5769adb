import {
  type EngineMessage,
  type EnginePart,
  isRefusal,
  type RequestRefusal,
  type SystemMessage,
  type ToolMessage,
  type UserMessage,
} from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { NOTHING_ELSE } from '../json/memo.ts';
import { readMemo } from '../read-memo.ts';
import { invalid, unsupported, wrongType } from '../refusals.ts';
import { spokenText, toolText } from '../single-text.ts';
import { readAssistant, readText } from './read-assistant.ts';
import { hasExactly, readContent } from './read-content.ts';

/** A message, and the images of a tool message, which go into a message of their own. */
interface ReadMessage {
  readonly message: EngineMessage;
  readonly images: readonly EnginePart[];
}

const READ = readMemo<ReadMessage>();
const NO_IMAGES: readonly EnginePart[] = [];

/** What stands in a tool message in the place of an image; the image follows in a user message (C19). */
const IMAGE_PLACEHOLDER = '[image attached below]';

/**
 * Chat messages as the engine sees them: one for one, but that images of tool messages follow in a user message of their own after the
 * run of tool messages. `developer` becomes `system` in its place (C63). Messages are never merged (protocol section 3).
 */
export function readMessages(list: JsonNode | undefined): EngineMessage[] | RequestRefusal {
  if (list === undefined || !list.isArray()) return wrongType('messages', 'an array', list);
  if (list.children.length === 0) return invalid('messages', 'expected at least one message');
  const messages: EngineMessage[] = [];
  let toolImages: EnginePart[] = [];
  for (let at = 0; at < list.children.length; at++) {
    const node = list.children[at] as JsonNode;
    const read = READ.known(node, NOTHING_ELSE) ?? READ.keep(node, NOTHING_ELSE, readAlone(node, `messages[${at}]`));
    if (isRefusal(read)) return read;
    const { message, images } = read;
    if (message.role !== 'tool' && toolImages.length > 0) {
      messages.push({ role: 'user', content: toolImages });
      toolImages = [];
    }
    messages.push(message);
    if (images.length > 0) toolImages.push(...images);
  }
  if (toolImages.length > 0) messages.push({ role: 'user', content: toolImages });
  return messages;
}

function readAlone(node: JsonNode, path: string): ReadMessage | RequestRefusal {
  const images: EnginePart[] = [];
  const message = readMessage(node, path, images);
  return isRefusal(message) ? message : { message, images: images.length === 0 ? NO_IMAGES : images };
}

function readMessage(node: JsonNode, path: string, toolImages: EnginePart[]): EngineMessage | RequestRefusal {
  if (!node.isObject()) return wrongType(path, 'an object', node);
  const role = node.get('role')?.string();
  switch (role) {
    case 'system':
    case 'developer':
      return readSpoken(node, path, 'system', role === 'system');
    case 'user':
      return readSpoken(node, path, 'user', true);
    case 'assistant':
      return readAssistant(node, path);
    case 'tool':
      return readTool(node, path, toolImages);
    case 'function':
      return unsupported(
        `${path}.role`,
        'the legacy role "function" is not supported; send role "tool" with tool_call_id',
      );
    case undefined:
      return wrongType(`${path}.role`, 'a string', node.get('role'));
    default:
      return invalid(
        `${path}.role`,
        `unknown role ${JSON.stringify(role)}; known are system, developer, user, assistant and tool`,
      );
  }
}

function readSpoken(
  node: JsonNode,
  path: string,
  role: 'system' | 'user',
  sameRole: boolean,
): SystemMessage | UserMessage | RequestRefusal {
  const content = node.present('content');
  if (content === undefined) return wrongType(`${path}.content`, 'a string or an array of parts', node.get('content'));
  if (sameRole && content.isString() && hasExactly(node, 'role', 'content'))
    return spokenText(role, content, node.raw());
  const read = readContent(content, `${path}.content`);
  if (isRefusal(read)) return read;
  const name = readText(node, 'name', path);
  if (isRefusal(name)) return name;
  const named = name.text !== '';
  const exact =
    sameRole &&
    read.exact &&
    (named ? hasExactly(node, 'role', 'content', 'name') : hasExactly(node, 'role', 'content'));
  return {
    role,
    content: read.content,
    name: named ? name.text : undefined,
    verbatim: exact ? node.raw() : undefined,
  };
}

/** A result; without content it is empty. Its `name` is no part of it: half of the clients add one. */
function readTool(node: JsonNode, path: string, toolImages: EnginePart[]): ToolMessage | RequestRefusal {
  const id = readText(node, 'tool_call_id', path);
  if (isRefusal(id)) return id;
  const content = node.present('content');
  if (content?.isString() && id.text !== '' && hasExactly(node, 'role', 'content', 'tool_call_id')) {
    return toolText(content, id.text, node.raw());
  }
  const read = content === undefined ? { content: '', exact: false } : readContent(content, `${path}.content`);
  if (isRefusal(read)) return read;
  if (typeof read.content !== 'string' && read.content.some((part) => part.type !== 'text'))
    return { role: 'tool', content: withoutMedia(read.content, toolImages), toolCallId: id.text };
  const exact = read.exact && id.text !== '' && hasExactly(node, 'role', 'content', 'tool_call_id');
  return { role: 'tool', content: read.content, toolCallId: id.text, verbatim: exact ? node.raw() : undefined };
}

function withoutMedia(parts: readonly EnginePart[], media: EnginePart[]): string | readonly EnginePart[] {
  const texts = parts.map((part) => {
    if (part.type === 'text') return part;
    media.push(part);
    return { type: 'text', text: IMAGE_PLACEHOLDER } as const;
  });
  return texts.length === 1 ? (texts[0] as { text: string }).text : texts;
}
