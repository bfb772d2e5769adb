/** What the bytes of a JSON text are. */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;

/** 1 for the bytes that a string may hold as they are: everything but `"`, `\` and controls. */
export const PLAIN = new Uint8Array(256).fill(1, 0x20);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

/** 1 for the bytes that are neither a quote nor a bracket. */
export const BETWEEN = new Uint8Array(256).fill(1);
for (const byte of [QUOTE, 0x5b, 0x5d, 0x7b, 0x7d]) BETWEEN[byte] = 0;

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

export function isHex(byte: number | undefined): boolean {
  return byte !== undefined && (isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66));
}

/** `escapeBytes` of a JsonNode for a JSON string that was not parsed. */
export function escapeBytesOf(string: Uint8Array): number {
  let extra = 0;
  for (let at = string.indexOf(BACKSLASH); at !== -1; at = string.indexOf(BACKSLASH, at + 2))
    extra += string[at + 1] === 0x75 ? 5 : 1;
  return extra;
}
