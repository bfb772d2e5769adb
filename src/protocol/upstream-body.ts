import { hash } from 'node:crypto';
import type { AssistantMessage, EngineMessage, EnginePart, EngineToolCall } from './conversation.ts';
import { type JsonFragment, type JsonFragments, joinFragments, jsonString } from './json/fragment.ts';

/** What the engine wants in its Chat messages. */
export interface UpstreamOptions {
  /** Name(s) under which it reads the reasoning of an assistant turn. vLLM: `reasoning`. */
  readonly reasoningKey: 'reasoning' | 'reasoning_content' | 'both';
  /** Longest tool-call id that it takes (`worker.call_id_limit`); null sends every id as it is (C98). */
  readonly callIdLimit: number | null;
}

export const DEFAULT_UPSTREAM_OPTIONS: UpstreamOptions = { reasoningKey: 'reasoning', callIdLimit: null };

/**
 * The upstream Chat message as JSON: the client's own bytes where there are any and the options allow them, else built. A dialect sets
 * `verbatim` only where it equals the built message with {@link DEFAULT_UPSTREAM_OPTIONS} by value.
 */
export function upstreamMessage(message: EngineMessage, options: UpstreamOptions): JsonFragment[] {
  if (message.verbatim !== undefined && allowsVerbatim(message, options)) return [message.verbatim];
  const out: JsonFragment[] = [`{"role":"${message.role}"`];
  if ((message.role === 'system' || message.role === 'user') && message.name !== undefined)
    out.push(`,"name":${jsonString(message.name)}`);
  out.push(',"content":');
  if (message.role !== 'assistant' && message.textNode !== undefined) out.push(message.textNode.raw());
  else pushContent(message.content, out);
  if (message.role === 'tool' && message.toolCallId !== '')
    out.push(`,"tool_call_id":${jsonString(wireCallId(message.toolCallId, options.callIdLimit))}`);
  if (message.role === 'assistant') pushAssistant(message, options, out);
  out.push('}');
  return out;
}

/** Whether the engine takes a `verbatim` message as it is. */
export function allowsVerbatim(message: EngineMessage, options: UpstreamOptions): boolean {
  const limit = options.callIdLimit;
  switch (message.role) {
    case 'system':
    case 'user':
      return true;
    case 'tool':
      return wireCallId(message.toolCallId, limit) === message.toolCallId;
    case 'assistant':
      if (message.reasoning !== null && options.reasoningKey !== 'reasoning') return false;
      return limit === null || message.toolCalls.every((call) => wireCallId(call.id, limit) === call.id);
    default: {
      const never: never = message;
      return never;
    }
  }
}

function pushAssistant(message: AssistantMessage, options: UpstreamOptions, out: JsonFragment[]): void {
  if (message.refusal !== null) out.push(`,"refusal":${jsonString(message.refusal)}`);
  if (message.reasoning !== null) {
    const text = jsonString(message.reasoning);
    if (options.reasoningKey !== 'reasoning_content') out.push(`,"reasoning":${text}`);
    if (options.reasoningKey !== 'reasoning') out.push(`,"reasoning_content":${text}`);
  }
  if (message.toolCalls.length === 0) return;
  const calls = message.toolCalls.map((call) => toolCall(call, options.callIdLimit));
  out.push(`,"tool_calls":[${calls.join(',')}]`);
}

function toolCall(call: EngineToolCall, callIdLimit: number | null): string {
  const id = call.id === '' ? '' : `"id":${jsonString(wireCallId(call.id, callIdLimit))},`;
  const args = jsonString(wireArguments(call.arguments));
  return `{${id}"type":"function","function":{"name":${jsonString(call.name)},"arguments":${args}}}`;
}

function pushContent(content: string | null | readonly EnginePart[], out: JsonFragment[]): void {
  if (content === null) out.push('null');
  else if (typeof content === 'string') out.push(jsonString(content));
  else {
    out.push('[');
    content.forEach((part, at) => {
      if (at > 0) out.push(',');
      out.push(part.type === 'text' ? `{"type":"text","text":${jsonString(part.text)}}` : part.json);
    });
    out.push(']');
  }
}

/** Arguments as the engine can take them: the text itself if it is a JSON object, else `{}` (C39; engines fail on anything else). */
export function wireArguments(text: string): string {
  return isJsonObject(text) ? text : '{}';
}

/** Whether a text is JSON and an object. Native parsing: it runs over every call of every history. */
export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

const PLAIN_ID = /^[\x21-\x7e]*$/;
const ID_HASH_LENGTH = 16;

/**
 * A tool-call id on the wire to the engine (C98): itself, but with a limit set an id that is longer, or holds white space, controls or
 * anything outside ASCII, becomes what can stay of it and a hash of the whole. A call and its result map alike, different ids differ.
 */
export function wireCallId(id: string, limit: number | null): string {
  if (limit === null || (id.length <= limit && PLAIN_ID.test(id))) return id;
  const digest = hash('sha256', JSON.stringify(id)).slice(0, Math.min(ID_HASH_LENGTH, limit));
  const stem = id.replace(/[^A-Za-z0-9_-]/g, '').slice(0, Math.max(0, limit - digest.length - 1));
  return stem === '' ? digest : `${stem}_${digest}`;
}

export interface UpstreamBodyParts {
  /** Null: the body names no model. */
  readonly model: string | null;
  /** Upstream messages in order, each as {@link upstreamMessage} gives it, or all of them as one JSON array. */
  readonly messages: readonly (readonly JsonFragment[])[] | Uint8Array;
  /** Members that the conversion maps. */
  readonly fields: ReadonlyMap<string, JsonFragment>;
  /** Members that the proxy adds (`stream`, `ng_capture`, overrides ...); they win over `fields` of the same name. */
  readonly extra: ReadonlyMap<string, JsonFragments>;
}

/** The upstream Chat body as UTF-8. */
export function upstreamBody(parts: UpstreamBodyParts): Buffer {
  const out: JsonFragment[] = ['{'];
  if (parts.model !== null && !parts.extra.has('model')) out.push(`"model":${jsonString(parts.model)},`);
  out.push('"messages":');
  if (parts.messages instanceof Uint8Array) {
    out.push(parts.messages);
  } else {
    out.push('[');
    pushMessages(parts.messages, out);
    out.push(']');
  }
  for (const [name, value] of parts.fields) if (!parts.extra.has(name)) out.push(`,${jsonString(name)}:`, value);
  for (const [name, value] of parts.extra) {
    out.push(`,${jsonString(name)}:`);
    if (typeof value === 'string' || value instanceof Uint8Array) out.push(value);
    else out.push(...value);
  }
  out.push('}');
  return joinFragments(out);
}

/** Neighbours that stand in one buffer with nothing but a comma and white space between them go up as one slice. */
function pushMessages(messages: readonly (readonly JsonFragment[])[], out: JsonFragment[]): void {
  let run: Uint8Array | null = null;
  messages.forEach((message, at) => {
    const only = message.length === 1 ? (message[0] as JsonFragment) : null;
    if (run !== null && only !== null && typeof only !== 'string') {
      const joined: Uint8Array | null = joinNeighbours(run, only);
      if (joined !== null) {
        run = joined;
        return;
      }
    }
    if (run !== null) out.push(run);
    run = null;
    if (at > 0) out.push(',');
    if (only !== null && typeof only !== 'string') run = only;
    else out.push(...message);
  });
  if (run !== null) out.push(run);
}

const COMMA = 0x2c;

function joinNeighbours(first: Uint8Array, second: Uint8Array): Uint8Array | null {
  if (first.buffer !== second.buffer) return null;
  const gapStart = first.byteOffset + first.length;
  const gap = second.byteOffset - gapStart;
  if (gap < 1 || gap > 64) return null;
  let commas = 0;
  for (const byte of new Uint8Array(first.buffer, gapStart, gap)) {
    if (byte === COMMA) commas++;
    else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return null;
  }
  return commas === 1
    ? new Uint8Array(first.buffer, first.byteOffset, second.byteOffset + second.length - first.byteOffset)
    : null;
}
