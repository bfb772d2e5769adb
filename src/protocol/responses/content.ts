import { type EnginePart, isRefusal, type RequestRefusal } from '../conversation.ts';
import { joinFragments } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, unsupported, wrongType } from '../refusals.ts';
import { type AssistantText, plainContent } from './fold-turns.ts';

/** Content of a message or of a tool output, in any of the spellings that clients use (C18, C23 to C25). */

const TEXT_TYPES: ReadonlySet<string> = new Set([
  'input_text',
  'output_text',
  'text',
  'summary_text',
  'reasoning_text',
]);
const IMAGE_TYPES: ReadonlySet<string> = new Set(['input_image', 'image_url', 'computer_screenshot']);
/** Chat parts that engines take as they are. */
const CHAT_MEDIA: ReadonlySet<string> = new Set(['input_audio', 'audio_url', 'video_url']);

/** Content that is a string or a list of parts; null and an empty list are the empty text. */
export function convertContent(
  content: JsonNode | undefined,
  path: string,
): string | readonly EnginePart[] | RequestRefusal {
  const text = content?.string();
  if (text !== undefined) return text;
  if (content === undefined || content.isNull()) return '';
  if (!content.isArray()) return wrongType(path, 'a string or an array of parts', content);
  const parts = convertParts(content, path);
  return isRefusal(parts) ? parts : plainContent(parts);
}

/** The parts of a list, in order. */
export function convertParts(list: JsonNode, path: string): readonly EnginePart[] | RequestRefusal {
  const parts: EnginePart[] = [];
  for (const [at, node] of list.elements().entries()) {
    const part = convertPart(node, `${path}[${at}]`);
    if (isRefusal(part)) return part;
    parts.push(part);
  }
  return parts;
}

/** Whether an object is a part, such as clients put in the place of a list of one. */
export function isPart(node: JsonNode): boolean {
  const type = node.get('type')?.string();
  return type !== undefined && (TEXT_TYPES.has(type) || IMAGE_TYPES.has(type) || CHAT_MEDIA.has(type));
}

/** One part as the engine knows it. */
export function convertPart(node: JsonNode, path: string): EnginePart | RequestRefusal {
  const text = node.string();
  if (text !== undefined) return { type: 'text', text };
  if (!node.isObject()) return wrongType(path, 'a content part', node);
  const type = node.present('type')?.string();
  if (type === undefined) return invalid(`${path}.type`, 'a content part needs a type, such as "input_text"');
  if (TEXT_TYPES.has(type)) {
    const value = node.present('text')?.string();
    return value === undefined
      ? wrongType(`${path}.text`, 'a string', node.get('text'))
      : { type: 'text', text: value };
  }
  if (IMAGE_TYPES.has(type)) return convertImage(node, path);
  if (CHAT_MEDIA.has(type)) return { type: 'media', kind: type, json: node.raw() };
  if (type === 'input_file' || type === 'file')
    return unsupported(
      `${path}.type`,
      `${JSON.stringify(type)} parts are not supported: no files are kept here; send the content as input_text or input_image`,
    );
  return unsupported(`${path}.type`, `the content type ${JSON.stringify(type)} is not known here`);
}

/** `image_url` is a string here and an object in Chat; a `detail` goes up only where one is given (C23). */
function convertImage(node: JsonNode, path: string): EnginePart | RequestRefusal {
  const image = node.present('image_url');
  const url = image?.isObject() === true ? image.present('url') : image;
  if (url === undefined && node.present('file_id') !== undefined)
    return unsupported(
      `${path}.file_id`,
      'images by file_id are not supported: no files are kept here; send the image in image_url, as a URL or data URL',
    );
  if (url?.isString() !== true) return wrongType(`${path}.image_url`, 'a URL or data URL', url);
  const detail = image?.present('detail') ?? node.present('detail');
  const json = joinFragments([
    '{"type":"image_url","image_url":{"url":',
    url.raw(),
    ...(detail === undefined ? [] : [',"detail":', detail.raw()]),
    '}}',
  ]);
  return { type: 'media', kind: 'image_url', json };
}

/** Content of an assistant message: texts joined, refusal parts apart. Null, absent and an empty list are no content. */
export function convertAssistantContent(content: JsonNode | undefined, path: string): AssistantText | RequestRefusal {
  const text = content?.string();
  if (text !== undefined) return { content: text, refusal: null };
  if (content === undefined || content.isNull()) return { content: null, refusal: null };
  if (!content.isArray()) return wrongType(path, 'a string or an array of parts', content);
  const parts: EnginePart[] = [];
  let refusal: string | null = null;
  for (const [at, node] of content.elements().entries()) {
    if (node.get('type')?.string() === 'refusal') {
      const words = node.present('refusal')?.string();
      if (words === undefined) return wrongType(`${path}[${at}].refusal`, 'a string', node.get('refusal'));
      refusal = (refusal ?? '') + words;
      continue;
    }
    const part = convertPart(node, `${path}[${at}]`);
    if (isRefusal(part)) return part;
    parts.push(part);
  }
  return { content: joinedTexts(parts), refusal };
}

function joinedTexts(parts: readonly EnginePart[]): AssistantText['content'] {
  if (parts.length === 0) return null;
  let joined = '';
  for (const part of parts) {
    if (part.type !== 'text') return parts;
    joined += part.text;
  }
  return joined;
}
