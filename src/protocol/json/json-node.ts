import type { JsonFragment } from './fragment.ts';
import type { MemoEntry } from './memo.ts';
import { plainText } from './plain-text.ts';

/** `skipped` is a value that was stepped over and not built (see ParseJsonOptions.skip). */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null' | 'skipped';

/** Roles, types and the like, with their quotes; ids are longer. */
const SHORT_STRING = 18;

const SHORT_FRAGMENT = 64;

const NO_NODES: readonly JsonNode[] = [];
const NO_KEYS: readonly string[] = [];

/**
 * One value of a parsed JSON text, with the byte range it came from. Nothing is lost: `raw()` is the source itself, objects keep
 * their members in order with duplicates, numbers keep their spelling. Reads follow the ecosystem: the last duplicate wins.
 */
export class JsonNode {
  /** The text it stands in; with `start` and `end` it changes by {@link moveTo} alone. */
  bytes: Buffer;
  readonly kind: JsonKind;
  /** First byte of the value. */
  start: number;
  /** One past the last byte of the value. */
  end: number;
  /** Of a string: the bytes of its escapes beyond one for each code unit that they stand for, so 1 for `\\n` and 5 for `\\u00e9`; 0 without escapes. */
  readonly escapeBytes: number;
  /** A string that `JSON.stringify` would spell otherwise: it holds `\\u....` or `\\/`. */
  readonly respelled: boolean;
  /** Elements of an array; member values of an object, in order, in step with `keys`. */
  readonly children: readonly JsonNode[];
  /** Member names of an object, decoded, in order, duplicates included. */
  readonly keys: readonly string[];
  /** What readers keep of this value (memo.ts). */
  memo: MemoEntry | undefined = undefined;

  constructor(
    bytes: Buffer,
    kind: JsonKind,
    start: number,
    end: number,
    escapeBytes = 0,
    children: readonly JsonNode[] = NO_NODES,
    keys: readonly string[] = NO_KEYS,
    respelled = false,
  ) {
    this.bytes = bytes;
    this.kind = kind;
    this.start = start;
    this.end = end;
    this.escapeBytes = escapeBytes;
    this.respelled = respelled;
    this.children = children;
    this.keys = keys;
  }

  /** Says that this value stands in a copy of its text, `shift` bytes further on. */
  moveTo(bytes: Buffer, shift: number): void {
    this.bytes = bytes;
    this.start += shift;
    this.end += shift;
    for (const child of this.children) child.moveTo(bytes, shift);
  }

  /** A string that holds at least one backslash. */
  get escaped(): boolean {
    return this.escapeBytes > 0;
  }

  /** The source bytes of this value (a view, not a copy). */
  raw(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }

  /** The source of this value to be kept for longer: a short one as text, which does not keep the rest of its text with it. */
  fragment(): JsonFragment {
    return this.end - this.start <= SHORT_FRAGMENT ? this.rawText() : this.raw();
  }

  rawText(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  /** The member of this name (the last one where it stands twice); undefined if there is none or this is no object. */
  get(key: string): JsonNode | undefined {
    // Objects of requests have few members: a loop is several times quicker than lastIndexOf.
    const { keys } = this;
    for (let at = keys.length - 1; at >= 0; at--) if (keys[at] === key) return this.children[at];
    return undefined;
  }

  /** Like {@link get}, with null read as absent. */
  present(key: string): JsonNode | undefined {
    const node = this.get(key);
    return node === undefined || node.kind === 'null' ? undefined : node;
  }

  /** Distinct members in order of first appearance, each with its last value. */
  *members(): IterableIterator<[key: string, value: JsonNode]> {
    yield* new Map(this.keys.map((key, at) => [key, this.children[at] as JsonNode]));
  }

  /** Elements of an array; empty for everything else. */
  elements(): readonly JsonNode[] {
    return this.kind === 'array' ? this.children : NO_NODES;
  }

  isObject(): boolean {
    return this.kind === 'object';
  }

  isArray(): boolean {
    return this.kind === 'array';
  }

  isNull(): boolean {
    return this.kind === 'null';
  }

  isString(): boolean {
    return this.kind === 'string';
  }

  /** The decoded string (lone surrogates kept), or undefined if this is no string. */
  string(): string | undefined {
    if (this.kind !== 'string') return undefined;
    if (this.escaped) return JSON.parse(this.bytes.toString('utf8', this.start, this.end)) as string;
    return this.end - this.start <= SHORT_STRING
      ? plainText(this.bytes, this.start + 1, this.end - 1)
      : this.bytes.toString('utf8', this.start + 1, this.end - 1);
  }

  /** True or false for a boolean, else undefined. */
  boolean(): boolean | undefined {
    if (this.kind === 'true') return true;
    if (this.kind === 'false') return false;
    return undefined;
  }

  /** The nearest double of a number (may be Infinity for 1e400), else undefined. */
  number(): number | undefined {
    return this.kind === 'number' ? Number(this.bytes.toString('latin1', this.start, this.end)) : undefined;
  }

  /** A plain JavaScript value. Lossy (numbers as doubles, last duplicate): for reading, never for forwarding. */
  value(): unknown {
    return this.kind === 'skipped' ? undefined : JSON.parse(this.rawText());
  }
}
