import type { JsonNode } from '../protocol/json/json-node.ts';
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
  return write(node, REPLAY, false, options.dropNullMembersBelowTop ?? false, 0);
}

/** {@link canonicalReplay} of a value that is a member of something else: null members of objects are left out at every level. */
export function canonicalReplayWithoutNulls(node: JsonNode): string | null {
  return write(node, REPLAY, true, true, 0);
}

/**
 * Canonical JSON of protocol section 8, byte for byte as orjson prints it with sorted keys: `1.0`, `0.00001`, `1e-7`, `1e+16`, NaN and
 * infinities as `null`. Null where the value is unfingerprintable: a lone surrogate, an integer outside [-2^63, 2^64), more than 254 levels.
 */
export function canonicalFingerprint(node: JsonNode): string | null {
  return write(node, FINGERPRINT, false, false, 0);
}

function write(
  node: JsonNode,
  spelling: Spelling,
  dropNulls: boolean,
  dropNullsBelow: boolean,
  depth: number,
): string | null {
  switch (node.kind) {
    case 'string':
      return stringToken(node);
    case 'number': {
      const token = node.rawText();
      return isIntegerToken(token) ? spelling.integer(token) : spelling.float(Number(token));
    }
    case 'array': {
      if (depth >= spelling.maxDepth) return null;
      let out = '';
      for (const child of node.children) {
        const text = write(child, spelling, dropNullsBelow, dropNullsBelow, depth + 1);
        if (text === null) return null;
        out += out === '' ? text : `,${text}`;
      }
      return `[${out}]`;
    }
    case 'object': {
      if (depth >= spelling.maxDepth) return null;
      let out = '';
      for (const [key, child] of sortedMembers(node)) {
        if (dropNulls && child.kind === 'null') continue;
        const text = write(child, spelling, dropNullsBelow, dropNullsBelow, depth + 1);
        if (text === null || !key.isWellFormed()) return null;
        out += `${out === '' ? '' : ','}${JSON.stringify(key)}:${text}`;
      }
      return `{${out}}`;
    }
    case 'true':
    case 'false':
    case 'null':
      return node.kind;
    case 'skipped':
      throw new Error('a value that was parsed with `skip` has no canonical form');
    default:
      return unreachable(node.kind);
  }
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

/** The canonical token of a string, or null where it holds a lone surrogate. */
function stringToken(node: JsonNode): string | null {
  const raw = node.rawText();
  // Only these two kinds of escape have another canonical spelling, and only `\u` can hide a surrogate.
  if (!node.escaped || !(raw.includes('\\u') || raw.includes('\\/'))) return raw;
  const text = JSON.parse(raw) as string;
  return text.isWellFormed() ? JSON.stringify(text) : null;
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
