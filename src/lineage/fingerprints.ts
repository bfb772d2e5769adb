import type { JsonNode } from '../protocol/json/json-node.ts';
import { memoOf } from '../protocol/json/memo.ts';
import { PrefixMemo } from '../protocol/json/prefix-memo.ts';
import { sha256Hex } from './digest.ts';
import { FieldHash, Unfingerprintable } from './field-hash.ts';
import { writeContent, writeToolCalls, writeToolResults } from './fingerprint-fields.ts';
import { pythonStr, pythonTruth } from './python-text.ts';
import { RunningHash } from './running-hash.ts';

/** `empty`: no item that an assistant authored. `unfingerprintable`: an item that the trainer's function refuses, too; both are null in a record. */
export type Fingerprint =
  | { readonly kind: 'digest'; readonly hex: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'unfingerprintable' };

const ASSISTANT_DOMAIN = 'nemo-gym-lineage';
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
  return fingerprintOf(AUTHORED.ofAll(items));
}

/** What an assistant authored in a list of items, as Latin-1 text for the hash. */
interface Authored {
  readonly hash: RunningHash;
  any: boolean;
  unfingerprintable: boolean;
}

/** Of a history that came before, only what is new is read. */
const AUTHORED = new PrefixMemo<JsonNode, Authored>({
  start: () => ({ hash: new RunningHash(ASSISTANT_DOMAIN), any: false, unfingerprintable: false }),
  step: addAuthored,
  fork: (authored) => ({ ...authored, hash: authored.hash.fork() }),
});

function addAuthored(authored: Authored, item: JsonNode): Authored {
  if (authored.unfingerprintable) return authored;
  try {
    if (!isAuthored(requireObject(item))) return authored;
    ITEM.start();
    writeContent(ITEM, ASSISTANT_TAGS.part, item.get('content'));
    writeToolCalls(ITEM, ASSISTANT_TAGS.call, item);
    authored.hash.append(ITEM.bytes().toString('latin1'));
    authored.any = true;
  } catch (error) {
    if (!(error instanceof Unfingerprintable)) throw error;
    authored.unfingerprintable = true;
  }
  return authored;
}

function fingerprintOf({ hash, any, unfingerprintable }: Authored): Fingerprint {
  if (unfingerprintable) return { kind: 'unfingerprintable' };
  return any ? { kind: 'digest', hex: hash.digest() } : { kind: 'empty' };
}

/** {@link fingerprintAssistant} as a record holds it: 64 hex digits, or null where there is none. */
export function assistantFingerprint(items: readonly JsonNode[]): string | null {
  const [only] = items;
  return hexOf(only !== undefined && items.length === 1 ? fingerprintAlone(only) : fingerprintAssistant(items));
}

/** A record names a reply of one item twice: as an item, and as all items. */
const fingerprintAlone = memoOf((item) => fingerprintAssistant([item]));

/** {@link assistantFingerprint} of a history and what follows it, which is not kept. */
export function continuedFingerprint(history: readonly JsonNode[], rest: readonly JsonNode[]): string | null {
  return hexOf(fingerprintOf(AUTHORED.after(AUTHORED.ofAll(history), rest, 0)));
}

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
