import type { JsonNode } from './json-node.ts';

/** JSON text on its way out: bytes of the client's own, or text of ours. */
export type JsonFragment = string | Uint8Array;

/** Joins fragments into one UTF-8 buffer. */
export function joinFragments(fragments: readonly JsonFragment[]): Buffer {
  const parts: Uint8Array[] = [];
  let pending = '';
  for (const fragment of fragments) {
    if (typeof fragment === 'string') {
      pending += fragment;
      continue;
    }
    if (pending !== '') {
      parts.push(Buffer.from(pending));
      pending = '';
    }
    parts.push(fragment);
  }
  if (pending !== '') parts.push(Buffer.from(pending));
  return parts.length === 1 && Buffer.isBuffer(parts[0]) ? parts[0] : Buffer.concat(parts);
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
