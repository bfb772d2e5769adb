import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type {
  AssistantMessage,
  EngineToolCall,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from '../../../src/protocol/conversation.ts';
import type { JsonNode } from '../../../src/protocol/json/json-node.ts';
import {
  isJsonProblem,
  type ParseJsonOptions,
  parseJson,
  parseJsonText,
} from '../../../src/protocol/json/parse-json.ts';

/** Parses a JSON text that is known to be well-formed. */
export function json(text: string, options: ParseJsonOptions = {}): JsonNode {
  const node = parseJsonText(text, options);
  if (isJsonProblem(node)) throw new Error(`${node.problem} at ${node.offset}: ${text.slice(0, 200)}`);
  return node;
}

/** A field of a fingerprint. */
export type Field = readonly [tag: number, text: string];

/** The digest of these fields (section 8), written down independently of the code under test. */
export function digestOfFields(domain: string, fields: readonly Field[]): string {
  const parts = fields.flatMap(([tag, text]) => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    return [Buffer.from([tag]), length, bytes];
  });
  return hash('sha256', Buffer.concat([Buffer.from(domain), ...parts]));
}

/** Items of a request, in the JSON that Python accepts. */
export function items(...texts: string[]): JsonNode[] {
  return texts.map((text) => json(text, { allowNonFinite: true }));
}

/** The published vectors, losslessly. */
export function vectors(...path: string[]): JsonNode {
  const parsed = parseJson(readFileSync(new URL('../../vectors/vectors.json', import.meta.url)));
  if (isJsonProblem(parsed)) throw new Error(parsed.problem);
  return path.reduce<JsonNode>((node, key) => member(node, key), parsed);
}

export function member(node: JsonNode, key: string): JsonNode {
  const found = node.get(key);
  if (found === undefined) throw new Error(`no member ${key}`);
  return found;
}

/** The string of a member, or null where it is null. */
export function stringOf(node: JsonNode, key: string): string | null {
  return member(node, key).string() ?? null;
}

export function user(content: UserMessage['content'], rest: Partial<UserMessage> = {}): UserMessage {
  return { role: 'user', content, ...rest };
}

export function system(content: SystemMessage['content'], rest: Partial<SystemMessage> = {}): SystemMessage {
  return { role: 'system', content, ...rest };
}

export function tool(toolCallId: string, content: ToolMessage['content']): ToolMessage {
  return { role: 'tool', toolCallId, content };
}

export function assistant(rest: Partial<AssistantMessage> = {}): AssistantMessage {
  return { role: 'assistant', content: null, reasoning: null, refusal: null, toolCalls: [], echoedIds: [], ...rest };
}

export function call(id: string, name: string, args: string): EngineToolCall {
  return { id, name, arguments: args };
}
