import { type EnginePart, isRefusal, type RequestRefusal } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, unsupported } from '../refusals.ts';
import { imagePart } from './image.ts';
import { quoted } from './quoted.ts';

/** Content as the engine sees it: a string where it is one text, else the list of its parts. */
export type FoldedContent = string | readonly EnginePart[];

/** Where blocks stand decides which of them have a meaning. */
export type BlockPlace = 'system' | 'user' | 'tool_result';

/** What a tool result shows in place of an image, which follows in a user message: a tool message takes text alone (C19). */
export const IMAGE_BELOW = '[image attached below]';

/**
 * Content that is no assistant's: a string, or blocks of text, images, text documents and search results. Everything around them that is not
 * for the engine (`cache_control`, `citations`) is left out.
 */
export function foldContent(
  content: JsonNode | undefined,
  path: string,
  place: BlockPlace,
): FoldedContent | RequestRefusal {
  const parts = contentParts(content, path, place);
  return isRefusal(parts) ? parts : collapse(parts);
}

/** A list of one text is that string; nothing at all is the empty string. */
export function collapse(parts: readonly EnginePart[]): FoldedContent {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? first.text : parts;
}

/** The parts of {@link foldContent} before one text becomes a string. */
export function contentParts(
  content: JsonNode | undefined,
  path: string,
  place: BlockPlace,
): EnginePart[] | RequestRefusal {
  if (content === undefined || content.isNull()) return [];
  if (content.isString()) return [textPart(content.string() as string)];
  if (!content.isArray()) return invalid(path, 'must be a string or a list of content blocks');
  const parts: EnginePart[] = [];
  for (const [at, block] of content.elements().entries()) {
    const added = blockParts(block, `${path}[${at}]`, place);
    if (isRefusal(added)) return added;
    parts.push(...added);
  }
  return parts;
}

/** Parts of one block. */
export function blockParts(block: JsonNode, path: string, place: BlockPlace): EnginePart[] | RequestRefusal {
  if (block.isString()) return [textPart(block.string() as string)];
  if (!block.isObject()) return invalid(path, 'must be a content block');
  const type = block.get('type')?.string();
  if (isTextType(type)) {
    const text = blockText(block, path);
    return typeof text === 'string' ? [textPart(text)] : text;
  }
  if (place !== 'system') {
    if (type === 'image' || type === 'image_url') {
      const image = imagePart(block, path);
      return isRefusal(image) ? image : [image.part];
    }
    if (type === 'document') return documentParts(block, path);
    if (type === 'search_result') return searchResultParts(block, path);
    if (type === 'tool_reference' && place === 'tool_result') return toolReferencePart(block, path);
  }
  return unsupported(
    `${path}.type`,
    `a block of type ${quoted(type)} cannot be sent to the model from here; leave it out or send its content as a "text" block`,
  );
}

/** `text`, or the name that Responses has for it: a client that mixes them up means the same. */
export function isTextType(type: string | undefined): boolean {
  return type === 'text' || type === 'input_text' || type === 'output_text';
}

/** The text of a `text` block. */
export function blockText(block: JsonNode, path: string): string | RequestRefusal {
  return block.get('text')?.string() ?? invalid(`${path}.text`, 'must be a string');
}

/** A document that is text goes up as text, its title and context before it. Engines read no other kind. */
function documentParts(block: JsonNode, path: string): EnginePart[] | RequestRefusal {
  const source = block.get('source');
  const type = source?.get('type')?.string();
  const heading = [block.get('title')?.string(), block.get('context')?.string()]
    .filter((text) => text !== undefined && text !== '')
    .map((text) => textPart(text as string));
  if (type === 'text') {
    const data = source?.get('data')?.string();
    return data === undefined ? invalid(`${path}.source.data`, 'must be a string') : [...heading, textPart(data)];
  }
  if (type === 'content') {
    const parts = contentParts(source?.get('content'), `${path}.source.content`, 'user');
    return isRefusal(parts) ? parts : [...heading, ...parts];
  }
  return unsupported(
    `${path}.source.type`,
    `a document from a source of type ${quoted(type)} cannot be read here; send its text as a "text" source, or its pages as images`,
  );
}

function searchResultParts(block: JsonNode, path: string): EnginePart[] | RequestRefusal {
  const heading = [block.get('title')?.string(), block.get('source')?.string()]
    .filter((text) => text !== undefined && text !== '')
    .map((text) => textPart(text as string));
  const parts = contentParts(block.get('content'), `${path}.content`, 'user');
  return isRefusal(parts) ? parts : [...heading, ...parts];
}

/** Every declared tool is sent up at once, so a loaded tool needs no more than its name. */
function toolReferencePart(block: JsonNode, path: string): EnginePart[] | RequestRefusal {
  const name = block.get('tool_name')?.string();
  return name === undefined
    ? invalid(`${path}.tool_name`, 'must be a string')
    : [textPart(`[tool available: ${name}]`)];
}

export function textPart(text: string): EnginePart {
  return { type: 'text', text };
}
