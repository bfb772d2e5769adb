/** A record's text without its long lists of numbers, and these by name. */
export interface SplitRecord {
  /** The text with `0` in the place of each list. */
  readonly light: Buffer;
  readonly lists: ReadonlyMap<string, Buffer>;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Takes the lists named `names` out of the top level of a JSON object. They are found by their closing bracket alone, at the speed of memory, since lists of
 * numbers are nearly all that a staged record is. Nothing is checked here: parsing what is left, and each list, finds whatever is wrong. Null
 * where the text has no such shape at all.
 */
export function splitRecord(bytes: Buffer, names: ReadonlySet<string>): SplitRecord | null {
  const lists = new Map<string, Buffer>();
  const kept: Buffer[] = [];
  let keptFrom = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      if (end < 0) return null;
      const value = depth === 1 ? listAfter(bytes, end) : -1;
      const name = value < 0 ? '' : bytes.toString('latin1', at + 1, end - 1);
      at = end;
      if (value < 0 || !names.has(name)) continue;
      const close = bytes.indexOf(CLOSE_LIST, value);
      if (close < 0) return null;
      lists.set(name, bytes.subarray(value, close + 1));
      kept.push(bytes.subarray(keptFrom, value), ZERO);
      keptFrom = close + 1;
      at = close + 1;
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    at++;
  }
  kept.push(bytes.subarray(keptFrom));
  return { light: Buffer.concat(kept), lists };
}

const ZERO = Buffer.from('0');

/** One past the closing quote of the string that begins at `start`; -1 where it is not closed. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at + 1;
  }
  return -1;
}

/** Where the list begins that follows a member's name; -1 where something else does. */
function listAfter(bytes: Buffer, end: number): number {
  let at = skipSpace(bytes, end);
  if (bytes[at] !== COLON) return -1;
  at = skipSpace(bytes, at + 1);
  return bytes[at] === OPEN_LIST ? at : -1;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at++;
  return at;
}
