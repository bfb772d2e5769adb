import type { JsonNode } from '../protocol/json/json-node.ts';
import { type FieldHash, Unfingerprintable } from './field-hash.ts';
import { pythonStr, pythonTruth } from './python-text.ts';

/** Blocks of these types with a string `text` are plain text; "" also stands for no type. */
const TEXT_TYPES = new Set(['', 'text', 'input_text', 'output_text']);
/** Blocks that are tool calls and tool results, not content. */
const TOOL_TYPES = new Set(['tool_use', 'tool_result']);

/** Content parts: two fields each, type (`tag`) and payload (`tag` + 1). Null and absent content has none. */
export function writeContent(fields: FieldHash, tag: number, content: JsonNode | undefined): void {
  if (content === undefined || content.isNull()) return;
  if (content.isString()) {
    writeText(fields, tag, content);
    return;
  }
  if (!content.isArray()) throw new Unfingerprintable();
  for (const part of content.children) {
    if (part.isString()) writeText(fields, tag, part);
    else writeBlock(fields, tag, part);
  }
}

/** An empty text is no part. */
function writeText(fields: FieldHash, tag: number, text: JsonNode): void {
  if (!pythonTruth(text)) return;
  fields.text(tag, 'text');
  fields.string(tag + 1, text);
}

function writeBlock(fields: FieldHash, tag: number, block: JsonNode): void {
  if (!block.isObject()) throw new Unfingerprintable();
  const type = strOr(block, 'type', '');
  const text = block.get('text');
  if (TEXT_TYPES.has(type) && text?.isString()) {
    writeText(fields, tag, text);
    return;
  }
  if (TOOL_TYPES.has(type)) return;
  if (type === '') throw new Unfingerprintable();
  fields.text(tag, type);
  fields.canonical(tag + 1, block);
}

/** Tool calls of an item: three fields each, id (`tag`), name and arguments. A call item itself, then `tool_use` blocks, then `tool_calls`. */
export function writeToolCalls(fields: FieldHash, tag: number, item: JsonNode): void {
  if (item.get('type')?.string() === 'function_call') {
    const id = strOr(item, 'call_id', strOr(item, 'id', ''));
    writeCall(fields, tag, id, toolName(item), item.get('arguments'));
  }
  for (const block of item.get('content')?.elements() ?? []) {
    if (block.isObject() && isType(block, 'tool_use'))
      writeCall(fields, tag, strOr(block, 'id', ''), plainName(block), block.get('input'));
  }
  const calls = item.get('tool_calls');
  if (!pythonTruth(calls)) return;
  if (!calls.isArray()) throw new Unfingerprintable();
  for (const call of calls.children) writeChatCall(fields, tag, call);
}

function writeChatCall(fields: FieldHash, tag: number, call: JsonNode): void {
  const made = call.get('function');
  if ((pythonTruth(call) && !call.isObject()) || (pythonTruth(made) && !made.isObject())) throw new Unfingerprintable();
  writeCall(fields, tag, strOr(call, 'id', ''), made === undefined ? '' : plainName(made), made?.get('arguments'));
}

function writeCall(fields: FieldHash, tag: number, id: string, name: string, args: JsonNode | undefined): void {
  fields.text(tag, id);
  fields.text(tag + 1, name);
  fields.arguments(tag + 2, args);
}

/** `<namespace>__<name>`; a null name prints `None`, an absent one nothing. */
function toolName(item: JsonNode): string {
  const namespace = strOr(item, 'namespace', '');
  const name = plainName(item);
  return namespace === '' ? name : `${namespace}__${name}`;
}

function plainName(node: JsonNode): string {
  const name = node.get('name');
  return name === undefined ? '' : pythonStr(name);
}

/** Tool results of an item: two fields each, id (`tag`) and output. The item itself, then its `tool_result` blocks. */
export function writeToolResults(fields: FieldHash, tag: number, item: JsonNode): void {
  if (item.get('type')?.string() === 'function_call_output') {
    writeResult(fields, tag, strOr(item, 'call_id', strOr(item, 'id', '')), item.get('output'));
  } else if (item.get('role')?.string() === 'tool') {
    writeResult(fields, tag, strOr(item, 'tool_call_id', ''), item.get('content'));
  }
  for (const block of item.get('content')?.elements() ?? []) {
    if (block.isObject() && isType(block, 'tool_result'))
      writeResult(fields, tag, strOr(block, 'tool_use_id', strOr(block, 'id', '')), block.get('content'));
  }
}

function writeResult(fields: FieldHash, tag: number, id: string, output: JsonNode | undefined): void {
  fields.text(tag, id);
  if (output === undefined) fields.text(tag + 1, 'null');
  else if (output.isString()) fields.string(tag + 1, output);
  else fields.canonical(tag + 1, output);
}

function isType(block: JsonNode, type: string): boolean {
  return block.get('type')?.string() === type;
}

/** Python's `str(node.get(key) or otherwise)`. */
function strOr(node: JsonNode, key: string, otherwise: string): string {
  const value = node.get(key);
  return pythonTruth(value) ? pythonStr(value) : otherwise;
}
