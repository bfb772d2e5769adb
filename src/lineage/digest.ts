import { hash } from 'node:crypto';
import type { JsonNode } from '../protocol/json/json-node.ts';

/** Domain of every digest of section 3. */
export const REPLAY_DOMAIN = 'nemo-gym-replay-v1\0';

/** A code unit that Latin-1 does not have. */
const WIDE = /[\u0100-\uffff]/;

/** SHA-256 as 64 lowercase hex digits. A string is hashed as UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data);
}

/** Digest of a value by its canonical JSON (protocol section 3), which must be well-formed Unicode. */
export function replayDigest(canonical: string): string {
  return hash('sha256', REPLAY_DOMAIN + canonical);
}

/**
 * Digest of a form of our own that nobody else recomputes (protocol section 3: how an item is normalized is ours). Two strings have the same
 * digest iff they have the same code units, so lone surrogates count as themselves. Text outside Latin-1 is hashed as UTF-16, which costs half
 * of what turning it into UTF-8 costs.
 */
export function formDigest(form: string): string {
  if (!WIDE.test(form)) return hash('sha256', `${REPLAY_DOMAIN}n${form}`);
  const bytes = Buffer.allocUnsafe(WIDE_DOMAIN.length + 2 * form.length);
  WIDE_DOMAIN.copy(bytes);
  bytes.write(form, WIDE_DOMAIN.length, 'utf16le');
  return hash('sha256', bytes);
}

const WIDE_DOMAIN = Buffer.from(`${REPLAY_DOMAIN}w`, 'latin1');

const TEXT_DOMAIN = `${REPLAY_DOMAIN}j`;
/** Longer texts are not worth keeping room for. */
const MAX_SCRATCH = 1024 * 1024;
/** Where head and text are put side by side to be hashed at once; grows to the longest. */
let scratch = Buffer.allocUnsafe(64 * 1024);

/**
 * Digest of a form that ends with one text, as `JSON.stringify` spells it. Given as the client's JSON string, its bytes are hashed as they came, which costs neither
 * decoding nor encoding them, unless they are `respelled`. `head` must frame itself and be well-formed Unicode.
 */
export function textFormDigest(head: string, text: string | JsonNode): string {
  if (typeof text === 'string') return hash('sha256', TEXT_DOMAIN + head + JSON.stringify(text));
  if (text.respelled) return textFormDigest(head, text.string() as string);
  const headLength = Buffer.byteLength(head) + TEXT_DOMAIN.length;
  const length = headLength + text.end - text.start;
  if (length > MAX_SCRATCH) return hash('sha256', Buffer.concat([Buffer.from(TEXT_DOMAIN + head), text.raw()]));
  if (length > scratch.length) scratch = Buffer.allocUnsafe(2 * length);
  scratch.write(TEXT_DOMAIN + head, 'utf8');
  text.bytes.copy(scratch, headLength, text.start, text.end);
  return hash('sha256', scratch.subarray(0, length));
}
