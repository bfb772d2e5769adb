import { readAssistantContent, readContent, readPart } from '../chat/read-content.ts';
import { type EnginePart, isRefusal, type RequestRefusal, type UserMessage } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import type { Memorable } from '../json/memo.ts';
import { readMemo } from '../read-memo.ts';
import { invalid, unsupported, wrongType } from '../refusals.ts';
import { unsealReasoning } from '../seal.ts';
import { plainMessage, singleText, userText } from '../single-text.ts';
import { CALL_ITEMS, OUTPUT_ITEMS } from './call-items.ts';
import { type InputStep, plainContent } from './fold-turns.ts';
import { reasoningText } from './reasoning-item.ts';
import type { ToolNames } from './tool-names.ts';

/** What an input item comes to. */
export type ConvertedItem =
  | { readonly kind: 'step'; readonly step: InputStep }
  /** A message of the system or the developer: leading ones become the system message, late ones stay where they are (C16). */
  | Instruction
  /** An item without a place in the conversation. `leftOut`: it says something that the engine does not get. */
  | { readonly kind: 'none'; readonly leftOut: string | null };

export interface Instruction extends Memorable {
  readonly kind: 'instruction';
  readonly content: string | readonly EnginePart[];
}

const COMPACT_LOCALLY = 'not supported; name the provider differently to compact locally';

/** Calls that a hosted tool answered on the provider's side: nothing here can tell the engine about them. */
const HOSTED_ITEMS: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'program',
  'program_output',
]);

/** Items that are read elsewhere: they change the tools or the settings of the request, and are no part of the conversation. */
const SETTING_ITEMS: ReadonlySet<string> = new Set(['additional_tools', 'configuration_update']);

/** How each known type of input item is treated, for the published list. */
export const ITEM_TYPES = {
  converted: [
    'message',
    'reasoning',
    'agent_message',
    'compaction',
    ...CALL_ITEMS.keys(),
    ...OUTPUT_ITEMS.keys(),
    ...SETTING_ITEMS,
  ],
  leftOut: [...HOSTED_ITEMS],
  refused: ['item_reference', 'compaction_trigger'],
} as const;

/** Calls are read by the names of the tools. */
const UNDERSTOOD = readMemo<ConvertedItem>();

/** {@link understand}, once for each node. `at` is its place in the list of this name, for the words of a refusal. */
export function convertItem(
  item: JsonNode,
  list: string,
  at: number,
  withs: readonly [names: ToolNames],
): ConvertedItem | RequestRefusal {
  return UNDERSTOOD.known(item, withs) ?? UNDERSTOOD.keep(item, withs, understand(item, `${list}[${at}]`, withs[0]));
}

/** Understands one item of `input`. Ids, `status` and other bookkeeping may be there, null or missing (C10 to C12). */
function understand(item: JsonNode, path: string, names: ToolNames): ConvertedItem | RequestRefusal {
  if (!item.isObject()) return wrongType(path, 'an item', item);
  const type = typeOf(item);
  if (type === undefined) return invalid(`${path}.type`, 'an item needs a type, such as "message"');
  const convert = CALL_ITEMS.get(type) ?? OUTPUT_ITEMS.get(type);
  if (convert !== undefined) return isHostedSearch(item, type) ? leftOut(type) : asStep(convert(item, path, names));
  if (HOSTED_ITEMS.has(type)) return leftOut(type);
  if (SETTING_ITEMS.has(type)) return { kind: 'none', leftOut: null };
  switch (type) {
    case 'message':
      return message(item, path);
    case 'reasoning':
      return reasoning(item);
    case 'agent_message':
      return agentMessage(item, path);
    case 'compaction':
    case 'compaction_summary':
      return compaction(item, path);
    case 'compaction_trigger':
      return unsupported(`${path}.type`, `compaction_trigger is ${COMPACT_LOCALLY}`);
    case 'item_reference':
      return unsupported(
        `${path}.type`,
        `item_reference ${JSON.stringify(item.present('id')?.string() ?? null)} cannot be resolved: no items are stored here; send full items (store: false)`,
      );
    default:
      return unsupported(`${path}.type`, `the item type ${JSON.stringify(type)} is not known here`);
  }
}

function typeOf(item: JsonNode): string | undefined {
  const type = item.present('type');
  if (type !== undefined) return type.string();
  if (item.present('role') !== undefined) return 'message';
  return item.keys.length > 0 && item.keys.every((key) => key === 'id' || key === 'type')
    ? 'item_reference'
    : undefined;
}

/** A search that the provider ran has no call that anything here could answer. */
function isHostedSearch(item: JsonNode, type: string): boolean {
  return type.startsWith('tool_search_') && item.present('call_id') === undefined;
}

function leftOut(type: string): ConvertedItem {
  return { kind: 'none', leftOut: type };
}

function asStep(step: InputStep | RequestRefusal): ConvertedItem | RequestRefusal {
  return isRefusal(step) ? step : { kind: 'step', step };
}

function message(item: JsonNode, path: string): ConvertedItem | RequestRefusal {
  const role = item.present('role')?.string();
  const id = item.present('id')?.string() ?? null;
  if (role === 'assistant') {
    const text = readAssistantContent(item.get('content'), `${path}.content`);
    if (isRefusal(text)) return text;
    return { kind: 'step', step: { step: 'assistant', id, text, verbatim: plainMessage(item) } };
  }
  if (role !== 'user' && role !== 'system' && role !== 'developer')
    return invalid(`${path}.role`, 'expected "user", "assistant", "system" or "developer"');
  const node = item.present('content');
  const text = role === 'user' ? singleText(node) : undefined;
  if (text !== undefined) return userStep(userText(text, item));
  const read = node === undefined ? { content: '' } : readContent(node, `${path}.content`);
  if (isRefusal(read)) return read;
  const { content } = read;
  return role === 'user' ? saidByUser(content) : { kind: 'instruction', content };
}

function reasoning(item: JsonNode): ConvertedItem {
  const text = reasoningText(item);
  const id = item.present('id')?.string() ?? null;
  return text === null ? { kind: 'none', leftOut: null } : { kind: 'step', step: { step: 'reasoning', id, text } };
}

/** What one Codex agent tells another. `encrypted_content` is what our own model wrote as an argument: nobody encrypted it. */
function agentMessage(item: JsonNode, path: string): ConvertedItem | RequestRefusal {
  const content = item.present('content');
  const text = content?.string();
  if (text !== undefined) return saidByUser(text);
  const parts: EnginePart[] = [];
  for (const [at, node] of (content?.elements() ?? []).entries()) {
    const written =
      node.get('type')?.string() === 'encrypted_content' ? node.present('encrypted_content')?.string() : undefined;
    const read = written === undefined ? readPart(node, `${path}.content[${at}]`) : { part: textPart(written) };
    if (isRefusal(read)) return read;
    parts.push(read.part);
  }
  return saidByUser(plainContent(parts));
}

/** A summary that we sealed reads as a message of the user; nobody can read another's (C44). */
function compaction(item: JsonNode, path: string): ConvertedItem | RequestRefusal {
  const summary = unsealReasoning(item.present('encrypted_content')?.string() ?? '');
  if (summary === null)
    return unsupported(`${path}.encrypted_content`, `a compaction item of another provider is ${COMPACT_LOCALLY}`);
  return saidByUser(summary);
}

function saidByUser(content: string | readonly EnginePart[]): ConvertedItem {
  return userStep({ role: 'user', content });
}

function userStep(message: UserMessage): ConvertedItem {
  return { kind: 'step', step: { step: 'message', message } };
}

function textPart(text: string): EnginePart {
  return { type: 'text', text };
}
