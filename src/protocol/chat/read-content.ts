import { type EnginePart, isRefusal, type RequestRefusal } from '../conversation.ts';
import { joinFragments, jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, saidType, unsupported, wrongType } from '../refusals.ts';

/** Content of Chat messages, in every spelling that clients use, also that of the other dialects' parts (C25). */

/** Content that was read, and whether the client's own bytes say exactly that. */
export interface ReadContent {
  readonly content: string | readonly EnginePart[];
  readonly exact: boolean;
}

/** Content of an assistant message: texts joined, refusals and thoughts apart. Null where there is none. */
export interface ReadAssistantContent {
  readonly content: string | null | readonly EnginePart[];
  readonly refusal: string | null;
  readonly reasoning: string | null;
  readonly exact: boolean;
}

interface ReadPart {
  readonly part: EnginePart;
  readonly exact: boolean;
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image_url', 'input_image', 'computer_screenshot']);
/** Parts that go up as they are, with the one member that they need. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(['input_audio', 'audio_url', 'video_url']);
const THOUGHT_TYPES: ReadonlySet<string> = new Set(['thinking', 'reasoning']);
/** Members that parts have in one dialect or another, beside the one that tells their kind. */
const PART_MEMBERS: readonly string[] = ['type', 'cache_control', 'prompt_cache_breakpoint'];
const TEXT_MEMBERS: ReadonlySet<string> = new Set([...PART_MEMBERS, 'annotations', 'logprobs']);
const MEDIA_MEMBERS: ReadonlySet<string> = new Set([...PART_MEMBERS, 'detail', 'file_id', 'uuid']);

/** Content of a system, user or tool message: the text of a list of one text, the empty text for an empty list. */
export function readContent(node: JsonNode, path: string): ReadContent | RequestRefusal {
  const text = node.string();
  if (text !== undefined) return { content: text, exact: true };
  if (!node.isArray()) return wrongType(path, 'a string or an array of parts', node);
  const parts: EnginePart[] = [];
  let exact = true;
  for (const [at, element] of node.elements().entries()) {
    const read = readPart(element, `${path}[${at}]`);
    if (isRefusal(read)) return read;
    parts.push(read.part);
    exact &&= read.exact;
  }
  const only = parts.length === 1 ? parts[0] : undefined;
  if (only?.type === 'text') return { content: only.text, exact: false };
  return parts.length === 0 ? { content: '', exact: false } : { content: parts, exact };
}

/** Content of an assistant message; absent, null and [] are none. */
export function readAssistantContent(node: JsonNode | undefined, path: string): ReadAssistantContent | RequestRefusal {
  const text = node?.string();
  if (text !== undefined) return { content: text, refusal: null, reasoning: null, exact: true };
  if (node === undefined || node.isNull())
    return { content: null, refusal: null, reasoning: null, exact: node !== undefined };
  if (!node.isArray()) return wrongType(path, 'a string, null or an array of parts', node);
  const parts: EnginePart[] = [];
  const refusals: string[] = [];
  const thoughts: string[] = [];
  for (const [at, element] of node.elements().entries()) {
    const type = element.get('type')?.string() ?? '';
    if (type === 'refusal' || THOUGHT_TYPES.has(type)) {
      const words = element.present(type)?.string() ?? element.present('text')?.string();
      if (words === undefined) return wrongType(`${path}[${at}].${type}`, 'a string', element.get(type));
      (type === 'refusal' ? refusals : thoughts).push(words);
      continue;
    }
    const read = readPart(element, `${path}[${at}]`);
    if (isRefusal(read)) return read;
    parts.push(read.part);
  }
  return {
    content: joinTexts(parts),
    refusal: refusals.length === 0 ? null : refusals.join(''),
    reasoning: thoughts.length === 0 ? null : thoughts.join('\n'),
    exact: false,
  };
}

/** Several texts of one turn are one text; a list only where something else stands between. */
function joinTexts(parts: readonly EnginePart[]): string | null | readonly EnginePart[] {
  if (parts.length === 0) return null;
  let joined = '';
  for (const part of parts) {
    if (part.type !== 'text') return parts;
    joined += part.text;
  }
  return joined;
}

/** One part, a plain string included. */
export function readPart(node: JsonNode, path: string): ReadPart | RequestRefusal {
  const plain = node.string();
  if (plain !== undefined) return { part: { type: 'text', text: plain }, exact: false };
  if (!node.isObject()) return wrongType(path, 'a content part', node);
  const said = saidType(node, path);
  if (isRefusal(said)) return said;
  const type = said.type ?? guessedType(node);
  if (type === undefined) return invalid(`${path}.type`, 'a content part needs a type, such as "text"');
  if (TEXT_TYPES.has(type)) {
    const text = node.get('text')?.string();
    if (text === undefined) return wrongType(`${path}.text`, 'a string', node.get('text'));
    return { part: { type: 'text', text }, exact: said.type === 'text' && hasExactly(node, 'type', 'text') };
  }
  if (IMAGE_TYPES.has(type)) return readImage(node, type, path);
  if (MEDIA_TYPES.has(type)) return readMedia(node, type, path);
  if (type === 'file' || type === 'input_file')
    return unsupported(
      path,
      'file parts are not supported: no files are kept here; send the content as text or as an image',
    );
  return unsupported(`${path}.type`, `the content part type ${JSON.stringify(type)} is not known here`);
}

/**
 * Engines take parts without a type where a member says what they are. With a member that no part of that kind has, it is somebody's JSON: half of
 * it would be lost.
 */
function guessedType(node: JsonNode): string | undefined {
  const kind = ['text', 'image_url', ...MEDIA_TYPES].find((name) => node.present(name) !== undefined);
  const known = kind === 'text' ? TEXT_MEMBERS : MEDIA_MEMBERS;
  return node.keys.every((key) => key === kind || known.has(key)) ? kind : undefined;
}

/** An image by URL or data URL; `detail` goes up only where one is given (C23). */
function readImage(node: JsonNode, type: string, path: string): ReadPart | RequestRefusal {
  const image = node.present('image_url');
  const url = image?.isObject() === true ? image.present('url') : image;
  if (url === undefined && node.present('file_id') !== undefined)
    return unsupported(
      `${path}.file_id`,
      'images by file_id are not supported: no files are kept here; send image_url',
    );
  if (url?.isString() !== true) return wrongType(`${path}.image_url`, 'a URL or data URL', url);
  const detail = image?.present('detail') ?? node.present('detail');
  const exact =
    type === 'image_url' &&
    node.get('type')?.isString() === true &&
    hasExactly(node, 'type', 'image_url') &&
    image?.isObject() === true &&
    (detail === undefined ? hasExactly(image, 'url') : hasExactly(image, 'url', 'detail'));
  if (exact) return { part: { type: 'media', kind: 'image_url', json: node.raw() }, exact };
  const json = joinFragments([
    '{"type":"image_url","image_url":{"url":',
    url.raw(),
    ...(detail === undefined ? [] : [',"detail":', detail.raw()]),
    '}}',
  ]);
  return { part: { type: 'media', kind: 'image_url', json }, exact };
}

function readMedia(node: JsonNode, type: string, path: string): ReadPart | RequestRefusal {
  const value = node.present(type);
  if (value?.isObject() !== true) return wrongType(`${path}.${type}`, 'an object', value);
  const exact = node.get('type')?.isString() === true && hasExactly(node, 'type', type);
  const json = exact
    ? node.raw()
    : joinFragments([`{"type":${jsonString(type)},${jsonString(type)}:`, value.raw(), '}']);
  return { part: { type: 'media', kind: type, json }, exact };
}

/** Whether an object has these members, each once, and no others. */
export function hasExactly(node: JsonNode, ...names: string[]): boolean {
  return node.keys.length === names.length && names.every((name) => node.keys.includes(name));
}
