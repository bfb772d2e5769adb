import type { JsonNode } from '../protocol/json/json-node.ts';
import { ByteSink } from './byte-sink.ts';
import { integerText, isIntegerToken, orjsonFloat, pythonFloat } from './python-text.ts';

export { canonicalArguments } from './equality-form.ts';
export { pythonFloat } from './python-text.ts';

/** How one canonical form differs from the other. */
interface Spelling {
  /** A double, or null where it cannot be hashed. */
  readonly float: (value: number) => string | null;
  /** An integer token, or null where it cannot be hashed. */
  readonly integer: (token: string) => string | null;
  readonly maxDepth: number;
}

const REPLAY: Spelling = {
  float: (value) => (Number.isFinite(value) ? pythonFloat(value) : null),
  integer: integerText,
  maxDepth: Number.POSITIVE_INFINITY,
};

const FINGERPRINT: Spelling = {
  float: orjsonFloat,
  integer: (token) => (fits64Bits(token) ? integerText(token) : null),
  /** Where orjson stops. */
  maxDepth: 254,
};

export interface CanonicalReplayOptions {
  /** Leave null members of objects out, but for those of the value itself. Null elements of lists stay. */
  readonly dropNullMembersBelowTop?: boolean;
}

/**
 * Canonical JSON of protocol section 3, byte for byte as Python prints it: keys sorted by code point, last duplicate wins, no white space,
 * non-ASCII literal, `1.0`, `1e-07`, integers in full. Null where the value cannot be hashed: a lone surrogate, a double that is not finite.
 */
export function canonicalReplay(node: JsonNode, options: CanonicalReplayOptions = {}): string | null {
  return written(node, REPLAY, false, options.dropNullMembersBelowTop ?? false);
}

/** {@link canonicalReplay} of a value that is a member of something else: null members of objects are left out at every level. */
export function canonicalReplayWithoutNulls(node: JsonNode): string | null {
  return written(node, REPLAY, true, true);
}

/**
 * Canonical JSON of protocol section 8, byte for byte as orjson prints it with sorted keys: `1.0`, `0.00001`, `1e-7`, `1e+16`, NaN and
 * infinities as `null`. Null where the value is unfingerprintable: a lone surrogate, an integer outside [-2^63, 2^64), more than 254 levels.
 */
export function canonicalFingerprint(node: JsonNode): string | null {
  return written(node, FINGERPRINT, false, false);
}

/** Writes {@link canonicalFingerprint} as UTF-8; false where the value is unfingerprintable. */
export function writeCanonicalFingerprint(sink: ByteSink, node: JsonNode): boolean {
  return write(sink, node, FINGERPRINT, false, false, 0);
}

const scratch = new ByteSink(16 * 1024);

function written(node: JsonNode, spelling: Spelling, dropNulls: boolean, dropNullsBelow: boolean): string | null {
  scratch.reset();
  return write(scratch, node, spelling, dropNulls, dropNullsBelow, 0) ? scratch.view().toString() : null;
}

function write(
  sink: ByteSink,
  node: JsonNode,
  spelling: Spelling,
  dropNulls: boolean,
  dropNullsBelow: boolean,
  depth: number,
): boolean {
  switch (node.kind) {
    case 'string':
      return writeString(sink, node);
    case 'number':
      return writeNumber(sink, node.rawText(), spelling);
    case 'array': {
      if (depth >= spelling.maxDepth) return false;
      sink.byte(0x5b);
      for (let at = 0; at < node.children.length; at++) {
        if (at > 0) sink.byte(0x2c);
        if (!write(sink, node.children[at] as JsonNode, spelling, dropNullsBelow, dropNullsBelow, depth + 1))
          return false;
      }
      sink.byte(0x5d);
      return true;
    }
    case 'object': {
      if (depth >= spelling.maxDepth) return false;
      let opening = 0x7b;
      for (const [key, child] of sortedMembers(node)) {
        if (dropNulls && child.kind === 'null') continue;
        sink.byte(opening);
        opening = 0x2c;
        if (!key.isWellFormed()) return false;
        sink.utf8(JSON.stringify(key));
        sink.byte(0x3a);
        if (!write(sink, child, spelling, dropNullsBelow, dropNullsBelow, depth + 1)) return false;
      }
      if (opening === 0x7b) sink.byte(opening);
      sink.byte(0x7d);
      return true;
    }
    case 'true':
    case 'false':
    case 'null':
      sink.latin1(node.kind);
      return true;
    case 'skipped':
      throw new Error('a value that was parsed with `skip` has no canonical form');
    default:
      return unreachable(node.kind);
  }
}

/** False where the string holds a lone surrogate. */
function writeString(sink: ByteSink, node: JsonNode): boolean {
  if (!node.escaped || escapesAreCanonical(node)) {
    sink.copy(node.bytes, node.start, node.end);
    return true;
  }
  const text = node.string() as string;
  if (!text.isWellFormed()) return false;
  sink.utf8(JSON.stringify(text));
  return true;
}

/** Only `\u` and `\/` have another canonical spelling. */
function escapesAreCanonical(node: JsonNode): boolean {
  const { bytes, end } = node;
  for (let at = bytes.indexOf(0x5c, node.start); at >= 0 && at < end; at = bytes.indexOf(0x5c, at + 2)) {
    const letter = bytes[at + 1];
    if (letter === 0x75 || letter === 0x2f) return false;
  }
  return true;
}

function writeNumber(sink: ByteSink, token: string, spelling: Spelling): boolean {
  const text = isIntegerToken(token) ? spelling.integer(token) : spelling.float(Number(token));
  if (text === null) return false;
  sink.latin1(text);
  return true;
}

/** Distinct members, each with its last value, by code point of their names. */
export function sortedMembers(node: JsonNode): [string, JsonNode][] {
  const members = [...node.members()];
  return members.length < 2 ? members : members.sort(([a], [b]) => compareCodePoints(a, b));
}

/** Order by Unicode code point, which differs from JavaScript's where a surrogate meets U+E000 to U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function fits64Bits(token: string): boolean {
  if (token.length < 19) return true;
  if (token.length > 20) return false;
  const value = BigInt(token);
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}

function unreachable(kind: never): never {
  throw new Error(`unknown kind of JSON value: ${String(kind)}`);
}
