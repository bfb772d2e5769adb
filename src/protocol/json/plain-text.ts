/** Texts that were seen, by a hash of their bytes; a newer one takes the place of an older one. */
const SLOTS = 1024;
const MAX_LENGTH = 40;
const seen: ({ readonly bytes: Uint8Array; readonly text: string } | undefined)[] = new Array(SLOTS).fill(undefined);

/**
 * The text of UTF-8 bytes that hold no escape: a member name, a role, a type. Requests are made of few such words, so most are found among those
 * seen before, which costs a fraction of decoding them; and equal ones are one string, which compares faster.
 */
export function plainText(source: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > MAX_LENGTH || length === 0) return source.toString('utf8', start, end);
  let hash = length;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (source[at] as number)) | 0;
  const slot = (hash ^ (hash >>> 10)) & (SLOTS - 1);
  const found = seen[slot];
  if (found !== undefined && sameBytes(found.bytes, source, start, length)) return found.text;
  const text = source.toString('utf8', start, end);
  seen[slot] = { bytes: Uint8Array.prototype.slice.call(source, start, end), text };
  return text;
}

function sameBytes(a: Uint8Array, b: Uint8Array, start: number, length: number): boolean {
  if (a.length !== length) return false;
  for (let at = 0; at < length; at++) if (a[at] !== b[start + at]) return false;
  return true;
}
