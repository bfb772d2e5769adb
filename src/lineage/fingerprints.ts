import type { JsonNode } from '../protocol/json/json-node.ts';
import { Memo, memoOf, NOTHING_ELSE } from '../protocol/json/memo.ts';
import { sha256Hex } from './digest.ts';
import { FieldHash, Unfingerprintable } from './field-hash.ts';
import { writeContent, writeToolCalls, writeToolResults } from './fingerprint-fields.ts';
import { pythonStr, pythonTruth } from './python-text.ts';

/** `empty`: no item that an assistant authored. `unfingerprintable`: an item that the trainer's function refuses, too; both are null in a record. */
export type Fingerprint =
  | { readonly kind: 'digest'; readonly hex: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'unfingerprintable' };

const ASSISTANT = new FieldHash('nemo-gym-lineage');
/** Fields of one item, behind no domain. */
const ITEM = new FieldHash('');
const CONVERSATION = new FieldHash('nemo-gym-lineage-context');

/** Tags of the fields in each of the two hashes. */
const ASSISTANT_TAGS = { part: 0, call: 2 };
const CONVERSATION_TAGS = { part: 1, call: 3 };
const RESULT_TAG = 6;

/**
 * `assistant_fingerprint` (protocol section 8, byte-exact): what the assistant authored in these items - content parts and tool calls of items
 * with role `assistant` or type `function_call`, in order. The same in both fingerprint versions.
 */
export function fingerprintAssistant(items: readonly JsonNode[]): Fingerprint {
  return guarded(ASSISTANT, () => {
    let authored = false;
    for (const item of items) {
      const fields = AUTHORED.of(item, NOTHING_ELSE, () => authoredFields(item));
      if (fields === null) continue;
      authored = true;
      ASSISTANT.fields(fields);
    }
    return authored;
  });
}

/** Longer ones are written anew: they cost as much to keep as the item itself. */
const MOST_KEPT_BYTES = 4096;
/** Fields of the items of a history that came before, as Latin-1 text; null for those that no assistant authored. */
const AUTHORED = new Memo<string | null>((fields) => fields === null || fields.length <= MOST_KEPT_BYTES);

function authoredFields(item: JsonNode): string | null {
  if (!isAuthored(requireObject(item))) return null;
  ITEM.start();
  writeContent(ITEM, ASSISTANT_TAGS.part, item.get('content'));
  writeToolCalls(ITEM, ASSISTANT_TAGS.call, item);
  return ITEM.bytes().toString('latin1');
}

/** {@link fingerprintAssistant} as a record holds it: 64 hex digits, or null where there is none. */
export function assistantFingerprint(items: readonly JsonNode[]): string | null {
  const [only] = items;
  return hexOf(only !== undefined && items.length === 1 ? fingerprintAlone(only) : fingerprintAssistant(items));
}

/** A record names a reply of one item twice: as an item, and as all items. */
const fingerprintAlone = memoOf((item) => fingerprintAssistant([item]));

/**
 * `conversation_digest` (protocol sections 8 and 13, byte-exact): all items with roles, parts, tool calls and tool results. Version 3 leaves
 * out the content of system and developer items, version 2 hashes it. Null where an item is unfingerprintable.
 */
export function conversationDigest(items: readonly JsonNode[], version: 2 | 3): string | null {
  return hexOf(
    guarded(CONVERSATION, () => {
      for (const item of items) writeConversationItem(requireObject(item), version);
      return true;
    }),
  );
}

function writeConversationItem(item: JsonNode, version: 2 | 3): void {
  const role = roleOf(item);
  CONVERSATION.text(0, role);
  if (version === 3 && (role === 'system' || role === 'developer')) return;
  writeContent(CONVERSATION, CONVERSATION_TAGS.part, item.get('content'));
  writeToolCalls(CONVERSATION, CONVERSATION_TAGS.call, item);
  writeToolResults(CONVERSATION, RESULT_TAG, item);
}

/** Role, else type, else nothing. */
function roleOf(item: JsonNode): string {
  const role = item.get('role');
  const named = pythonTruth(role) ? role : item.get('type');
  return pythonTruth(named) ? pythonStr(named) : '';
}

function isAuthored(item: JsonNode): boolean {
  return item.get('role')?.string() === 'assistant' || item.get('type')?.string() === 'function_call';
}

function requireObject(item: JsonNode): JsonNode {
  if (!item.isObject()) throw new Unfingerprintable();
  return item;
}

function guarded(fields: FieldHash, write: () => boolean): Fingerprint {
  fields.start();
  try {
    return write() ? { kind: 'digest', hex: sha256Hex(fields.bytes()) } : { kind: 'empty' };
  } catch (error) {
    if (error instanceof Unfingerprintable) return { kind: 'unfingerprintable' };
    throw error;
  }
}

function hexOf(fingerprint: Fingerprint): string | null {
  return fingerprint.kind === 'digest' ? fingerprint.hex : null;
}
