import { outputItemFingerprint } from '../lineage/output-items.ts';
import { type JsonFragment, joinFragments, jsonString } from '../protocol/json/fragment.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { argumentsText } from '../protocol/messages/tool-input.ts';
import { type Checked, ok, reason, refused } from './reasons.ts';

/** An item of a returned output that a model wrote, in the form in which records know it (protocol section 7, `output_items`). */
export interface AuthoredItem {
  /** Index of the item in the returned output, over all envelopes. Items of one Chat message share it. */
  readonly itemIndex: number;
  /** Where it stands, for messages: `response.output[3]`. */
  readonly path: string;
  /** `message`, `reasoning`, `function_call`, ... */
  readonly type: string;
  /** Ids that may name an item of a captured call: the item's own, and the call id of a tool call. */
  readonly ids: readonly string[];
  readonly fingerprint: string;
  /** The item as a tool call or message of its own, for fingerprints over several items (section 13). */
  readonly json: JsonNode;
}

const CALL_TYPES: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'tool_search_call']);
const OTHER_ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'tool', 'function']);

/** What a returned item is: `other` is one that no model wrote (messages of other roles, outputs of tools). */
export type ItemKind =
  | { readonly kind: 'other' }
  | { readonly kind: 'unsupported'; readonly type: string }
  | { readonly kind: 'authored'; readonly type: 'message' | 'reasoning' | 'call' };

/** Sorts an item by its type and role alone. */
export function itemKind(item: JsonNode): ItemKind {
  const type = item.present('type')?.string() ?? 'message';
  const role = item.present('role')?.string();
  if (type === 'reasoning') return { kind: 'authored', type: 'reasoning' };
  if (CALL_TYPES.has(type)) return { kind: 'authored', type: 'call' };
  if (type === 'message' && role === 'assistant') return { kind: 'authored', type: 'message' };
  if (role !== undefined && OTHER_ROLES.has(role)) return { kind: 'other' };
  if (type.endsWith('_output') || type.endsWith('_response')) return { kind: 'other' };
  return { kind: 'unsupported', type: role === undefined ? type : `${type} of role ${role}` };
}

/**
 * The authored items of one returned item: none for what no model wrote, one for a Responses item, and for a Chat or Messages turn with tool
 * calls one message (where it has text) and one call each, as a record counts them. Unsupported and unfingerprintable items are refused.
 */
export function authoredItems(item: JsonNode, itemIndex: number, path: string): Checked<readonly AuthoredItem[]> {
  const kind = itemKind(item);
  switch (kind.kind) {
    case 'other':
      return ok([]);
    case 'unsupported':
      return refused(
        reason(
          'item_unsupported',
          `${path} is a generated item of type ${kind.type}, which no captured call can have`,
          { itemIndex },
        ),
      );
    case 'authored':
      return fingerprintAll(kind.type === 'message' ? splitTurn(item) : [item], itemIndex, path);
    default:
      return kind satisfies never;
  }
}

function fingerprintAll(items: readonly JsonNode[], itemIndex: number, path: string): Checked<readonly AuthoredItem[]> {
  const authored: AuthoredItem[] = [];
  for (const json of items) {
    const type = json.present('type')?.string() ?? 'message';
    const fingerprint = outputItemFingerprint(json);
    if (fingerprint === null) {
      return refused(reason('item_unfingerprintable', `${path} (${type}) cannot be fingerprinted`, { itemIndex }));
    }
    const ids = [json.present('id')?.string(), CALL_TYPES.has(type) ? json.present('call_id')?.string() : undefined];
    authored.push({
      itemIndex,
      path,
      type,
      ids: [...new Set(ids.filter((id) => id !== undefined && id !== ''))] as string[],
      fingerprint,
      json,
    });
  }
  return ok(authored);
}

/**
 * A Chat or Messages turn as the items that a record has for it: a message where there is text, then its calls; reasoning and refusals are none. A
 * Responses message stays what it is.
 */
function splitTurn(message: JsonNode): readonly JsonNode[] {
  const toolCalls = message.present('tool_calls')?.elements() ?? [];
  const blocks = message.present('content')?.elements() ?? [];
  const special = (block: JsonNode) => SPLIT_BLOCKS.has(block.get('type')?.string() ?? '');
  if (toolCalls.length === 0 && !blocks.some(special) && !isEmptyTurn(message)) return [message];

  const items: JsonNode[] = [];
  const text =
    blocks.length > 0 ? contentOf(blocks.filter((block) => !special(block))) : message.present('content')?.rawText();
  if (text !== undefined && text !== '""' && text !== '[]') {
    items.push(compose(['{"type":"message","role":"assistant","content":', text, '}']));
  }
  for (const block of blocks) {
    if (block.get('type')?.string() !== 'tool_use') continue;
    // Arguments that are no object were served in a wrapper. Of the tools nothing is known here.
    const text = argumentsText(block.get('input'), block.get('name')?.string() ?? '', () => false);
    items.push(callItem(block.get('id'), block.get('name'), jsonString(text)));
  }
  for (const call of toolCalls) items.push(toolCallItem(call));
  return items;
}

/** A Chat or Messages turn (Responses messages have a type) that says nothing. */
function isEmptyTurn(message: JsonNode): boolean {
  if (message.present('type') !== undefined) return false;
  const content = message.present('content');
  return content === undefined || content.string() === '' || (content.isArray() && content.elements().length === 0);
}

/** A custom call counts as the function call that it was made from. */
function toolCallItem(call: JsonNode): JsonNode {
  const custom = call.present('custom');
  if (custom !== undefined) {
    const input = `{"input":${custom.get('input')?.rawText() ?? 'null'}}`;
    return callItem(call.get('id'), custom.get('name'), jsonString(input));
  }
  const fn = call.present('function');
  return callItem(call.get('id'), fn?.get('name'), fn?.get('arguments')?.raw() ?? 'null');
}

const SPLIT_BLOCKS: ReadonlySet<string> = new Set(['tool_use', 'thinking', 'redacted_thinking']);

function contentOf(blocks: readonly JsonNode[]): string {
  return `[${blocks.map((block) => block.rawText()).join(',')}]`;
}

function callItem(id: JsonNode | undefined, name: JsonNode | undefined, args: JsonFragment): JsonNode {
  const callId = id === undefined ? 'null' : id.raw();
  return compose([
    '{"type":"function_call","id":',
    callId,
    ',"call_id":',
    callId,
    ',"name":',
    name?.raw() ?? 'null',
    ',"arguments":',
    args,
    '}',
  ]);
}

function compose(fragments: readonly JsonFragment[]): JsonNode {
  const node = parseJson(joinFragments(fragments));
  if (isJsonProblem(node)) throw new Error(`an item composed of JSON values cannot be read again: ${node.problem}`);
  return node;
}
