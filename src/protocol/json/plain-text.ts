interface Seen {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Texts that were seen, by a hash of their bytes: each in one of two places, where the latest takes the one and the one before it the other. */
const PLACES = 2048;
const MAX_LENGTH = 40;
const seen: (Seen | undefined)[] = new Array(PLACES).fill(undefined);

/**
 * The text of UTF-8 bytes that hold no escape: a member name, a role, a type. Requests are made of few such words, so most are found among those
 * seen before, which costs a fraction of decoding them; and equal ones are one string, which compares faster.
 */
export function plainText(source: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > MAX_LENGTH || length === 0) return source.toString('utf8', start, end);
  let hash = length;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (source[at] as number)) | 0;
  const place = (hash ^ (hash >>> 11)) & (PLACES - 2);
  const latest = seen[place];
  if (latest !== undefined && isSame(latest.bytes, source, start, length)) return latest.text;
  const other = seen[place + 1];
  if (other !== undefined && isSame(other.bytes, source, start, length)) return other.text;
  const text = asName(source.toString('utf8', start, end));
  seen[place + 1] = latest;
  seen[place] = { bytes: Uint8Array.prototype.slice.call(source, start, end), text };
  return text;
}

function isSame(a: Uint8Array, b: Uint8Array, start: number, length: number): boolean {
  if (a.length !== length) return false;
  for (let at = 0; at < length; at++) if (a[at] !== b[start + at]) return false;
  return true;
}

/** The same text as V8 keeps the names of members: it compares two of these by their addresses. */
function asName(text: string): string {
  // Without a prototype, so that it is a table: other objects would have a hidden class for each name.
  const names: Record<string, null> = Object.create(null);
  names[text] = null;
  return Object.keys(names)[0] as string;
}
