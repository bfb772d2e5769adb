import { type EngineToolCall, isRefusal } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { Memo } from '../json/memo.ts';
import { arrayNode, literalNode, objectNode, stringNode } from './composed-node.ts';
import { blockParts, isTextType } from './fold-content.ts';
import { imagePart } from './image.ts';
import { argumentsText, type DeclaresRaw, isWrapped } from './tool-input.ts';

/**
 * The messages as Responses items, over which fingerprints are taken (protocol section 13). They follow the client's order, unlike the conversation
 * for the engine: a run of texts and images is one message item, every other block an item of its own. Run after the conversion, which has
 * refused everything that has no item.
 */
export function toResponsesItems(messages: readonly JsonNode[], declaresRaw: DeclaresRaw): JsonNode[] {
  const items: JsonNode[] = [];
  const withs = [declaresRaw];
  for (const message of messages)
    items.push(...(ITEMS.known(message, withs) ?? ITEMS.keep(message, withs, messageItems(message, declaresRaw))));
  return items;
}

const ITEMS = new Memo<JsonNode[]>();

const MESSAGE = stringNode('message');
const FUNCTION_CALL = stringNode('function_call');
const FUNCTION_CALL_OUTPUT = stringNode('function_call_output');
const REASONING = stringNode('reasoning');
const SUMMARY_TEXT = stringNode('summary_text');
const INPUT_TEXT = stringNode('input_text');
const INPUT_IMAGE = stringNode('input_image');
const COMPLETED = stringNode('completed');
const AUTO = stringNode('auto');
const EMPTY = stringNode('');
const _FUNCTION = stringNode('function');
const ASSISTANT = stringNode('assistant');
const OUTPUT_TEXT = stringNode('output_text');
const NULL = literalNode('null');
const _FALSE = literalNode('false');

function messageItems(message: JsonNode, declaresRaw: DeclaresRaw): JsonNode[] {
  const role = message.get('role') ?? EMPTY;
  const content = message.present('content') ?? EMPTY;
  if (content.isString()) return [objectNode({ role, content, type: MESSAGE })];
  const items: JsonNode[] = [];
  let parts: JsonNode[] = [];
  const flush = () => {
    if (parts.length > 0) items.push(objectNode({ role, content: messageContent(parts), type: MESSAGE }));
    parts = [];
  };
  for (const block of content.elements()) {
    const type = block.get('type')?.string();
    if (isTextType(type)) {
      parts.push(inputText(block.get('text') ?? EMPTY));
      continue;
    }
    const item = blockItem(block, type, declaresRaw);
    if (item === null) {
      parts.push(...blockInputParts(block));
    } else {
      flush();
      items.push(item);
    }
  }
  flush();
  return items;
}

/** The item of a block that is one; null for a part of a message. */
function blockItem(block: JsonNode, type: string | undefined, declaresRaw: DeclaresRaw): JsonNode | null {
  switch (type) {
    case 'tool_use':
      return callItem(block, declaresRaw);
    case 'tool_result':
      return objectNode({
        type: FUNCTION_CALL_OUTPUT,
        call_id: block.get('tool_use_id') ?? EMPTY,
        output: outputValue(block.present('content')),
      });
    case 'thinking':
      return objectNode({
        type: REASONING,
        summary: arrayNode([objectNode({ type: SUMMARY_TEXT, text: block.present('thinking') ?? EMPTY })]),
      });
    case 'redacted_thinking':
      return objectNode({ type: REASONING, summary: arrayNode([]) });
    default:
      return null;
  }
}

function callItem(block: JsonNode, declaresRaw: DeclaresRaw): JsonNode {
  const id = block.present('id') ?? EMPTY;
  const name = block.get('name') ?? EMPTY;
  const input = block.present('input');
  // An object is canonical in a fingerprint whether it stands there as text or as itself, and itself costs nothing to make.
  const wrapped = input === undefined || !input.isObject() || isWrapped(input);
  return functionCallItem(
    id,
    name,
    wrapped ? stringNode(argumentsText(input, name.string() ?? '', declaresRaw)) : input,
  );
}

/** A `function_call` item; its id is the call's. */
function functionCallItem(id: JsonNode, name: JsonNode, args: JsonNode): JsonNode {
  return objectNode({ type: FUNCTION_CALL, id, call_id: id, name, arguments: args, status: COMPLETED });
}

/** An output item of a served call. */
export function outputCallItem(call: EngineToolCall): JsonNode {
  return functionCallItem(stringNode(call.id), stringNode(call.name), stringNode(call.arguments));
}

/** The output item of the served texts, without an id. */
export function messageItem(texts: readonly string[]): JsonNode {
  const parts = texts.map((text) => objectNode({ type: OUTPUT_TEXT, text: stringNode(text) }));
  return objectNode({ type: MESSAGE, id: NULL, role: ASSISTANT, content: arrayNode(parts) });
}

/** A list of one text is that text. */
function messageContent(parts: readonly JsonNode[]): JsonNode {
  const [first] = parts;
  const text = parts.length === 1 ? first?.get('text') : undefined;
  return text ?? arrayNode(parts);
}

/** Text and images; what else stands in a message goes up as text and is fingerprinted as that. */
function blockInputParts(block: JsonNode): JsonNode[] {
  const type = block.get('type')?.string();
  if (isTextType(type)) return [inputText(block.get('text') ?? EMPTY)];
  const image = type === 'image' || type === 'image_url' ? imagePart(block, '') : null;
  if (image !== null && !isRefusal(image))
    return [objectNode({ type: INPUT_IMAGE, image_url: image.url, detail: AUTO })];
  const parts = blockParts(block, '', 'tool_result');
  if (isRefusal(parts)) return [];
  return parts.flatMap((part) => (part.type === 'text' ? [inputText(stringNode(part.text))] : []));
}

function inputText(text: JsonNode): JsonNode {
  return objectNode({ type: INPUT_TEXT, text });
}

/** A string stays one, texts are joined with line breaks, and with an image among them they are a list of parts. */
function outputValue(content: JsonNode | undefined): JsonNode {
  if (content === undefined) return EMPTY;
  if (content.isString()) return content;
  const parts = content.elements().flatMap(blockInputParts);
  const texts = parts.flatMap((part) => part.get('text')?.string() ?? []);
  return texts.length === parts.length ? stringNode(texts.join('\n')) : arrayNode(parts);
}
