import { isUtf8 } from 'node:buffer';
import { BACKSLASH, BETWEEN, isDigit, isHex, PLAIN, QUOTE } from './json-bytes.ts';
import { JsonNode } from './json-node.ts';
import { endOfPiece, type KnownValues } from './known-values.ts';
import { plainText } from './plain-text.ts';

/** Where and why a text is not JSON. `offset` is in bytes. */
export interface JsonProblem {
  readonly problem: string;
  readonly offset: number;
  /** The text may be JSON, but is nested deeper than the limit. */
  readonly tooDeep: boolean;
}

export interface ParseJsonOptions {
  /** Deepest nesting accepted; deeper input is a problem, not a stack overflow. */
  readonly maxDepth?: number;
  /** Object members of these names become nodes of kind `skipped`, whatever they hold: stepped over by strings and brackets, not built. */
  readonly skip?: ReadonlySet<string>;
  /**
   * Accept the words `NaN`, `Infinity` and `-Infinity` as numbers, as Python's parser does (protocol section 8). Such nodes read as
   * these doubles; `value()` of a tree that holds one throws.
   */
  readonly allowNonFinite?: boolean;
  /** What stood in earlier texts of the same kind, and probably stands in this one again. */
  readonly known?: KnownValues;
}

const DEFAULT_MAX_DEPTH = 512;
/** Stands for a member's value until it is read. */
const UNREAD = new JsonNode(Buffer.alloc(0), 'null', 0, 0);
const NOTHING_KNOWN: readonly (readonly JsonNode[])[] = [];

class Malformed extends Error {
  readonly offset: number;
  readonly tooDeep: boolean;
  constructor(message: string, offset: number, tooDeep: boolean) {
    super(message);
    this.offset = offset;
    this.tooDeep = tooDeep;
  }
}

/**
 * Parses one JSON text losslessly: the tree keeps byte ranges, so number spellings, key order, duplicate members and string
 * escapes survive. Strict RFC 8259 (no NaN, no leading zeros, no trailing commas, no byte order mark), UTF-8 only.
 */
export function parseJson(bytes: Buffer, options: ParseJsonOptions = {}): JsonNode | JsonProblem {
  if (!isUtf8(bytes)) return { problem: 'the text is not valid UTF-8', offset: 0, tooDeep: false };
  try {
    return new Parser(bytes, options).parse();
  } catch (error) {
    if (error instanceof Malformed) return { problem: error.message, offset: error.offset, tooDeep: error.tooDeep };
    throw error;
  }
}

/** {@link parseJson} for a string. A string with a lone surrogate is no Unicode text and so no JSON. */
export function parseJsonText(text: string, options: ParseJsonOptions = {}): JsonNode | JsonProblem {
  if (!text.isWellFormed()) return { problem: 'the text holds a lone surrogate', offset: 0, tooDeep: false };
  return parseJson(Buffer.from(text), options);
}

export function isJsonProblem(value: JsonNode | JsonProblem): value is JsonProblem {
  return !(value instanceof JsonNode);
}

class Parser {
  private readonly bytes: Buffer;
  private readonly maxDepth: number;
  private readonly skip: ReadonlySet<string> | undefined;
  private readonly allowNonFinite: boolean;
  private readonly known: KnownValues | undefined;
  private at = 0;
  /** Of the latest string, as JsonNode says it. */
  private escapeBytes = 0;
  private respelled = false;
  /** Known elements that stand together are looked at together; not any more once such a piece did not stand here as a whole. */
  private inPieces = true;
  /** Members of the objects that are open, so that each object gets arrays of its very size. */
  private readonly openKeys: string[] = [];
  private readonly openValues: JsonNode[] = [];
  private open = 0;

  constructor(bytes: Buffer, options: ParseJsonOptions) {
    this.bytes = bytes;
    this.maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH;
    this.skip = options.skip;
    this.allowNonFinite = options.allowNonFinite ?? false;
    this.known = options.known;
  }

  parse(): JsonNode {
    this.space();
    const node = this.value(1);
    this.space();
    if (this.at !== this.bytes.length) this.fail('text after the end of the JSON value');
    return node;
  }

  private value(depth: number): JsonNode {
    const start = this.at;
    const byte = this.bytes[start];
    switch (byte) {
      case 0x7b:
        return this.object(depth);
      case 0x5b:
        return this.array(depth);
      case QUOTE: {
        this.string();
        return new JsonNode(
          this.bytes,
          'string',
          start,
          this.at,
          this.escapeBytes,
          undefined,
          undefined,
          this.respelled,
        );
      }
      case 0x74:
        return this.literal('true', start);
      case 0x66:
        return this.literal('false', start);
      case 0x6e:
        return this.literal('null', start);
      default:
        this.number();
        return new JsonNode(this.bytes, 'number', start, this.at);
    }
  }

  private object(depth: number): JsonNode {
    this.checkDepth(depth);
    const start = this.at++;
    const first = this.open;
    this.space();
    if (this.bytes[this.at] === 0x7d) {
      this.at++;
      return new JsonNode(this.bytes, 'object', start, this.at);
    }
    for (;;) {
      if (this.bytes[this.at] !== QUOTE) this.fail('a member name in double quotes is expected');
      const keyStart = this.at;
      this.string();
      const key =
        this.escapeBytes > 0
          ? (JSON.parse(this.bytes.toString('utf8', keyStart, this.at)) as string)
          : plainText(this.bytes, keyStart + 1, this.at - 1);
      this.space();
      if (this.bytes[this.at] !== 0x3a) this.fail('":" is expected after a member name');
      this.at++;
      this.space();
      const member = this.open++;
      this.openKeys[member] = key;
      // In its place at once: objects inside this one go behind it.
      this.openValues[member] = UNREAD;
      this.openValues[member] = this.memberValue(key, depth);
      this.space();
      const byte = this.bytes[this.at];
      if (byte === 0x2c) {
        this.at++;
        this.space();
        continue;
      }
      if (byte !== 0x7d) this.fail('"," or "}" is expected');
      this.at++;
      const end = this.open;
      this.open = first;
      const keys = this.openKeys.slice(first, end);
      return new JsonNode(this.bytes, 'object', start, this.at, 0, this.openValues.slice(first, end), keys);
    }
  }

  private memberValue(key: string, depth: number): JsonNode {
    if (this.skip?.has(key)) {
      const start = this.at;
      this.skipValue();
      return new JsonNode(this.bytes, 'skipped', start, this.at);
    }
    return depth === 1 && this.known !== undefined ? this.knownMember(key, this.known) : this.value(depth + 1);
  }

  /** A top-level member, taken over where it is known. */
  private knownMember(key: string, known: KnownValues): JsonNode {
    if (key === known.listName && this.bytes[this.at] === 0x5b) return this.array(2, known.lists);
    const node = known.members.get(key);
    return node !== undefined && this.takes(node, node) ? node : this.value(2);
  }

  /** Steps over known values, from `first` to `last` in one text, if they stand here. */
  private takes(first: JsonNode, last: JsonNode): boolean {
    const { bytes, at } = this;
    const end = at + last.end - first.start;
    if (end > bytes.length || bytes.compare(first.bytes, first.start, last.end, at, end) !== 0) return false;
    this.at = end;
    return true;
  }

  /**
   * Takes elements over from one of the lists into `children`, as many as stand in one text, else one; false where none of them stands here. Once a piece does not
   * stand here as a whole, elements are looked at one by one: its first ones may stand here.
   */
  private takesElements(lists: readonly (readonly JsonNode[])[], children: JsonNode[]): boolean {
    const from = children.length;
    if (this.inPieces) {
      for (const list of lists) if (this.takesPiece(list, from, endOfPiece(list, from), children)) return true;
      this.inPieces = false;
    }
    for (const list of lists) if (this.takesPiece(list, from, from + 1, children)) return true;
    return false;
  }

  private takesPiece(list: readonly JsonNode[], from: number, end: number, children: JsonNode[]): boolean {
    const [first, last] = [list[from], list[end - 1]];
    if (first === undefined || last === undefined || !this.takes(first, last)) return false;
    for (let at = from; at < end; at++) children.push(list[at] as JsonNode);
    return true;
  }

  private array(depth: number, known: readonly (readonly JsonNode[])[] = NOTHING_KNOWN): JsonNode {
    this.checkDepth(depth);
    const start = this.at++;
    const children: JsonNode[] = [];
    let lists = known;
    this.space();
    if (this.bytes[this.at] === 0x5d) {
      this.at++;
      return new JsonNode(this.bytes, 'array', start, this.at, 0, children);
    }
    for (;;) {
      if (lists.length > 0 && this.takesElements(lists, children)) {
        const last = children.length - 1;
        if (lists.length > 1) lists = lists.filter((list) => list[last] === children[last]);
      } else {
        lists = NOTHING_KNOWN;
        children.push(this.value(depth + 1));
      }
      this.space();
      const byte = this.bytes[this.at];
      if (byte === 0x2c) {
        this.at++;
        this.space();
        continue;
      }
      if (byte !== 0x5d) this.fail('"," or "]" is expected');
      this.at++;
      return new JsonNode(this.bytes, 'array', start, this.at, 0, children);
    }
  }

  /**
   * Steps over one value by its strings and brackets. What stands between them is not looked at: this is for token data of an engine of ours, of which there may be
   * hundreds of bytes for every token. Brackets must close, so a text that was cut off is noticed.
   */
  private skipValue(): void {
    const byte = this.bytes[this.at];
    if (byte === QUOTE) this.string();
    else if (byte === 0x74) this.word('true');
    else if (byte === 0x66) this.word('false');
    else if (byte === 0x6e) this.word('null');
    else if (byte !== 0x7b && byte !== 0x5b) this.number();
    else this.skipBrackets();
  }

  private skipBrackets(): void {
    const bytes = this.bytes;
    const start = this.at;
    let depth = 0;
    let at = start;
    for (;;) {
      let byte = bytes[at];
      while (byte !== undefined && BETWEEN[byte] === 1) byte = bytes[++at];
      if (byte === QUOTE) {
        const opened = at;
        do byte = bytes[++at];
        while (byte !== undefined && PLAIN[byte] === 1);
        if (byte === QUOTE) {
          at++;
        } else {
          this.at = opened;
          this.string();
          at = this.at;
        }
      } else if (byte === undefined) {
        this.fail('a bracket is not closed', start);
      } else {
        at++;
        if (byte === 0x7b || byte === 0x5b) depth++;
        else if (--depth === 0) break;
      }
    }
    this.at = at;
  }

  /** Steps over a string; leaves in `escapeBytes` and `respelled` what JsonNode says of them. */
  private string(): void {
    const bytes = this.bytes;
    let at = this.at + 1;
    this.escapeBytes = 0;
    this.respelled = false;
    for (;;) {
      let byte = bytes[at];
      while (byte !== undefined && PLAIN[byte] === 1) byte = bytes[++at];
      if (byte === QUOTE) {
        this.at = at + 1;
        return;
      }
      if (byte === undefined) this.fail('a string is not closed', at);
      if (byte !== BACKSLASH) this.fail('a control character in a string must be escaped', at);
      switch (bytes[at + 1]) {
        case 0x75: {
          for (let digit = at + 2; digit < at + 6; digit++)
            if (!isHex(bytes[digit])) this.fail('a \\u escape needs four hex digits', at);
          at += 6;
          this.escapeBytes += 5;
          this.respelled = true;
          break;
        }
        case 0x2f:
          at += 2;
          this.escapeBytes++;
          this.respelled = true;
          break;
        case QUOTE:
        case BACKSLASH:
        case 0x62:
        case 0x66:
        case 0x6e:
        case 0x72:
        case 0x74:
          at += 2;
          this.escapeBytes++;
          break;
        default:
          this.fail('unknown escape in a string', at);
      }
    }
  }

  private number(): void {
    const bytes = this.bytes;
    const start = this.at;
    let at = start;
    if (this.allowNonFinite && this.nonFinite()) return;
    if (bytes[at] === 0x2d) at++;
    if (bytes[at] === 0x30) at++;
    else if (isDigit(bytes[at])) while (isDigit(bytes[at])) at++;
    else this.fail(start >= bytes.length ? 'the text ends where a value is expected' : 'a value is expected', start);
    if (bytes[at] === 0x2e) {
      at++;
      if (!isDigit(bytes[at])) this.fail('a digit is expected after "."', at);
      while (isDigit(bytes[at])) at++;
    }
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      at++;
      if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++;
      if (!isDigit(bytes[at])) this.fail('a digit is expected in the exponent', at);
      while (isDigit(bytes[at])) at++;
    }
    this.at = at;
  }

  /** Steps over a word for a number that JSON does not have, if one stands here. */
  private nonFinite(): boolean {
    const bytes = this.bytes;
    const start = this.at;
    const first = bytes[start] === 0x2d ? bytes[start + 1] : bytes[start];
    if (first === 0x49) {
      this.at = bytes[start] === 0x2d ? start + 1 : start;
      this.word('Infinity');
      return true;
    }
    if (bytes[start] !== 0x4e) return false;
    this.word('NaN');
    return true;
  }

  private literal(word: 'true' | 'false' | 'null', start: number): JsonNode {
    this.word(word);
    return new JsonNode(this.bytes, word, start, this.at);
  }

  private word(word: string): void {
    for (let i = 0; i < word.length; i++)
      if (this.bytes[this.at + i] !== word.charCodeAt(i)) this.fail('a value is expected');
    this.at += word.length;
  }

  private space(): void {
    const bytes = this.bytes;
    let byte = bytes[this.at];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++this.at];
  }

  private checkDepth(depth: number): void {
    if (depth > this.maxDepth) this.fail(`the text is nested deeper than ${this.maxDepth} levels`, this.at, true);
  }

  private fail(message: string, offset = this.at, tooDeep = false): never {
    throw new Malformed(message, offset, tooDeep);
  }
}
