import { isAscii } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type {
  EngineMessage,
  EnginePart,
  EngineRole,
  EngineToolCall,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from '../protocol/conversation.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { canonicalArguments } from './canonical-json.ts';
import { formDigest } from './digest.ts';
import { memberForms } from './equality-form.ts';
import { hasReasoning, joinTexts } from './evidence.ts';
import { mediaForm } from './media-form.ts';
import type { EvidenceItem } from './types.ts';

/**
 * What is kept of an item to explain a root later (protocol section 7, `why_root`): lengths and short digests, never content. A record
 * keeps the sketches of the items that it adds to its parent's, and a short digest of each of its render keys.
 */
export interface ItemSketch {
  readonly role: EngineRole;
  /** Short digest of the item, by the second digest where it has one. */
  readonly d: string;
  /** Content parts in order; an empty text is none. */
  readonly parts?: readonly PartSketch[];
  readonly reasoning?: TextSketch;
  readonly refusal?: TextSketch;
  readonly name?: TextSketch;
  /** Call id of a tool message. */
  readonly answers?: TextSketch;
  readonly calls?: readonly CallSketch[];
}

/** `n` is the length in UTF-16 code units, `d` a checksum of a text, or a short digest of what is no text. */
export interface TextSketch {
  readonly n: number;
  readonly d: string;
}

export interface PartSketch extends TextSketch {
  readonly kind: 'text' | 'media';
}

export interface CallSketch {
  readonly id: TextSketch;
  readonly name: TextSketch;
  readonly arguments: TextSketch;
  /** Short digest of the value of each top-level argument whose name is a plain identifier. */
  readonly values?: Readonly<Record<string, string>>;
}

/** What the ledger stores of a record as `sketchJson`. */
export interface RecordSketch {
  /** Items that the call adds to its parent's, all of them for a root, the served turn last. */
  readonly items: readonly ItemSketch[];
  /** Short digests of the render keys, see render-digest. */
  readonly render: Readonly<Record<string, string>>;
}

/** A record's sketch as it is read back from the ledger. */
export interface StoredSketch {
  readonly callId: string;
  readonly parentCallId: string | null;
  readonly renderDigest: string;
  /** JSON of a {@link RecordSketch}. */
  readonly sketchJson: string;
}

/** Sketch of one message with its evidence. */
export function sketchOf(message: EngineMessage, item: EvidenceItem): ItemSketch {
  const d = (item.emptyToolContentDigest ?? item.digest).slice(0, SHORT);
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, d, ...contentOf(message), ...optionalText('name', message.name) };
    case 'tool':
      return { role: 'tool', d, ...contentOf(message), answers: textSketch(message.toolCallId) };
    case 'assistant':
      return {
        role: 'assistant',
        d,
        ...partsOf(
          message.content === null || typeof message.content === 'string'
            ? message.content
            : joinTexts(message.content),
        ),
        ...optionalText('reasoning', hasReasoning(message.reasoning) ? message.reasoning : null),
        ...optionalText('refusal', message.refusal),
        ...(message.toolCalls.length === 0 ? {} : { calls: message.toolCalls.map(callSketch) }),
      };
    default:
      return unreachable(message);
  }
}

/** JSON of a {@link RecordSketch}, as the ledger stores it. */
export function sketchJson(items: readonly ItemSketch[], render: Readonly<Record<string, string>>): string {
  return JSON.stringify({ items, render } satisfies RecordSketch);
}

/** Reads what {@link sketchJson} wrote. */
export function parseSketch(json: string): RecordSketch {
  return JSON.parse(json) as RecordSketch;
}

/** Hex digits of a short digest. */
const SHORT = 16;
const ARGUMENT_DIGEST = 8;
/** Bytes of a JSON string beside its text. */
const QUOTES = 2;
const MAX_NAMED_ARGUMENTS = 32;
const PLAIN_IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

function textSketch(text: string | JsonNode): TextSketch {
  return { n: typeof text === 'string' ? text.length : textLength(text), d: checksum(text) };
}

/**
 * A CRC-32, which costs a tenth of a digest: a sketch tells people which part of an item differs; that it does is told by digests. Of a text as `JSON.stringify` spells
 * it, for a JSON string its bytes unless they are `respelled`.
 */
function checksum(text: string | JsonNode): string {
  if (typeof text !== 'string') return text.respelled ? checksum(text.string() as string) : hex8(crc32(text.raw()));
  return hex8(crc32(JSON.stringify(text)));
}

const hex8 = (value: number) => value.toString(16).padStart(8, '0');

/** Length of a string in code units. */
function textLength(node: JsonNode): number {
  const bytes = node.raw();
  return isAscii(bytes) ? bytes.length - QUOTES - node.escapeBytes : (node.string() as string).length;
}

function optionalText<Key extends string>(key: Key, text: string | null | undefined): { [K in Key]?: TextSketch } {
  return text === null || text === undefined || text === ''
    ? {}
    : ({ [key]: textSketch(text) } as { [K in Key]?: TextSketch });
}

function contentOf(message: SystemMessage | UserMessage | ToolMessage): { parts?: readonly PartSketch[] } {
  if (message.textNode === undefined) return partsOf(message.content);
  const sketch = textSketch(message.textNode);
  return sketch.n === 0 ? {} : { parts: [{ kind: 'text', ...sketch }] };
}

function partsOf(content: string | readonly EnginePart[] | null): { parts?: readonly PartSketch[] } {
  const parts: readonly EnginePart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const sketches = parts.filter((part) => part.type !== 'text' || part.text !== '').map(partSketch);
  return sketches.length === 0 ? {} : { parts: sketches };
}

function partSketch(part: EnginePart): PartSketch {
  return part.type === 'text'
    ? { kind: 'text', ...textSketch(part.text) }
    : { kind: 'media', n: part.json.length, d: formDigest(mediaForm(part)).slice(0, SHORT) };
}

function callSketch(call: EngineToolCall): CallSketch {
  const values = argumentValues(call.arguments);
  return {
    id: textSketch(call.id),
    name: textSketch(call.name),
    arguments: { n: call.arguments.length, d: formDigest(canonicalArguments(call.arguments)).slice(0, SHORT) },
    ...(values === null ? {} : { values }),
  };
}

/** Digests of the top-level arguments that can be named. Names that are no plain identifiers could be content. */
function argumentValues(text: string): Record<string, string> | null {
  const named = [...(memberForms(text) ?? [])].filter(([key]) => PLAIN_IDENTIFIER.test(key) && key !== '__proto__');
  if (named.length === 0) return null;
  return Object.fromEntries(
    named.slice(0, MAX_NAMED_ARGUMENTS).map(([key, form]) => [key, formDigest(form).slice(0, ARGUMENT_DIGEST)]),
  );
}

function unreachable(message: never): never {
  throw new Error(`unknown role: ${JSON.stringify(message)}`);
}
