import type { JsonNode } from './json-node.ts';

/** JSON text on its way out: bytes of the client's own, or text of ours. */
export type JsonFragment = string | Uint8Array;
/** One JSON text, in one piece or in several. */
export type JsonFragments = JsonFragment | readonly JsonFragment[];

/** Joins fragments into one UTF-8 buffer. */
export function joinFragments(fragments: readonly JsonFragment[]): Buffer {
  const [only] = fragments;
  if (fragments.length === 1 && Buffer.isBuffer(only)) return only;
  const pieces = mergeTexts(fragments);
  let length = 0;
  for (const fragment of pieces) length += typeof fragment === 'string' ? Buffer.byteLength(fragment) : fragment.length;
  const joined = Buffer.allocUnsafe(length);
  let at = 0;
  for (const fragment of pieces) {
    if (typeof fragment === 'string') {
      at += joined.write(fragment, at);
    } else {
      joined.set(fragment, at);
      at += fragment.length;
    }
  }
  return joined;
}

/** Texts that stand together as one: each write costs more than the text in it. */
function mergeTexts(fragments: readonly JsonFragment[]): JsonFragment[] {
  const pieces: JsonFragment[] = [];
  for (const fragment of fragments) {
    const last = pieces.length - 1;
    const before = pieces[last];
    if (typeof fragment === 'string' && typeof before === 'string') pieces[last] = before + fragment;
    else pieces.push(fragment);
  }
  return pieces;
}

/** A JSON string token. Lone surrogates come out as escapes, so the result is always valid UTF-8. */
export function jsonString(text: string): string {
  return JSON.stringify(text);
}

/** Text of a fragment. */
export function fragmentText(fragment: JsonFragment): string {
  return typeof fragment === 'string'
    ? fragment
    : Buffer.from(fragment.buffer, fragment.byteOffset, fragment.byteLength).toString('utf8');
}

/** The members of an object as fragments `"key":value`, joined by commas, those that `keep` refuses left out. */
export function memberFragments(node: JsonNode, keep: (key: string, value: JsonNode) => boolean): JsonFragment[] {
  const out: JsonFragment[] = [];
  for (const [key, value] of node.members()) {
    if (!keep(key, value)) continue;
    out.push(`${out.length === 0 ? '' : ','}${jsonString(key)}:`, value.raw());
  }
  return out;
}
