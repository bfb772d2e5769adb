import type { JsonNode } from '../json/json-node.ts';
import { unsealReasoning } from '../seal.ts';

/**
 * The text of a reasoning item, whatever part of it a client echoes: `content`, where it says something, else `summary`, else the copy
 * that we sealed into `encrypted_content`. Parts join with a line break (C8). Null where there is no text, or only white space: a value that
 * another provider encrypted says nothing here (C9).
 */
export function reasoningText(item: JsonNode): string | null {
  return said(item.present('content')) ?? said(item.present('summary')) ?? sealed(item.present('encrypted_content'));
}

function said(list: JsonNode | undefined): string | null {
  if (list === undefined) return null;
  const texts = list.elements().map((part) => part.string() ?? part.present('text')?.string() ?? '');
  return unlessBlank(list.string() ?? texts.join('\n'));
}

function sealed(value: JsonNode | undefined): string | null {
  const text = value?.string();
  return text === undefined ? null : unlessBlank(unsealReasoning(text) ?? '');
}

function unlessBlank(text: string): string | null {
  return text.trim() === '' ? null : text;
}
