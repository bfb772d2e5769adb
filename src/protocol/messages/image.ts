import { type EnginePart, isRefusal, type RequestRefusal } from '../conversation.ts';
import { jsonString } from '../json/fragment.ts';
import { escapeBytesOf } from '../json/json-bytes.ts';
import { JsonNode } from '../json/json-node.ts';
import { invalid, unsupported } from '../refusals.ts';
import { quoted } from './quoted.ts';

/** An image as the engine takes it, and its URL as a JSON string of its own. */
export interface ConvertedImage {
  readonly part: EnginePart;
  readonly url: JsonNode;
}

const BEFORE_URL = '{"type":"image_url","image_url":{"url":';
const AFTER_URL = '}}';

/**
 * An `image` block, or the `image_url` part of Chat, whose `detail` goes up where it is given. A base64 source becomes a data URL around the client's own bytes; no other
 * member is for the engine.
 */
export function imagePart(block: JsonNode, path: string): ConvertedImage | RequestRefusal {
  const chatImage = block.present('image_url');
  const chatUrl = chatImage?.get('url');
  const url = chatUrl?.isString() ? [chatUrl.raw()] : sourceUrl(block.get('source'), `${path}.source`);
  if (isRefusal(url)) return url;
  const detail = (chatImage?.present('detail') ?? (chatImage && block.present('detail')))?.raw();
  const after = detail === undefined ? [] : [Buffer.from(',"detail":'), detail];
  const head = Buffer.concat([Buffer.from(BEFORE_URL), ...url]);
  const bytes = Buffer.concat([head, ...after, Buffer.from(AFTER_URL)]);
  const end = head.length;
  return {
    part: { type: 'media', kind: 'image_url', json: bytes },
    url: new JsonNode(bytes, 'string', BEFORE_URL.length, end, escapeBytesOf(bytes)),
  };
}

/** The URL as a JSON string token, in pieces. */
function sourceUrl(source: JsonNode | undefined, path: string): Buffer[] | RequestRefusal {
  const type = source?.get('type')?.string();
  if (type === 'url') {
    const url = source?.get('url');
    return url?.isString() ? [url.raw()] : invalid(`${path}.url`, 'must be a string');
  }
  if (type === 'base64') {
    const data = source?.get('data');
    if (!data?.isString()) return invalid(`${path}.data`, 'must be a string of base64');
    const mediaType = source?.get('media_type')?.string();
    if (mediaType === undefined) return invalid(`${path}.media_type`, 'must be a string such as "image/png"');
    const head = jsonString(`data:${mediaType};base64,`).slice(0, -1);
    return [Buffer.from(head), data.raw().subarray(1)];
  }
  return unsupported(
    `${path}.type`,
    `an image from a source of type ${quoted(type)} cannot be fetched here; send it as "base64" or as a "url"`,
  );
}
