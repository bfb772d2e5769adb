import type { JsonNode } from '../protocol/json/json-node.ts';

/** Shortest decimal digits of a finite double that is not zero, and the place of its decimal point: 0.digits x 10^point. */
function shortest(value: number): { digits: string; point: number } {
  const text = Math.abs(value).toExponential();
  const at = text.indexOf('e');
  return { digits: text[0] + text.slice(2, at), point: Number(text.slice(at + 1)) + 1 };
}

/**
 * A double between `0.` with `smallestPoint` and 10^16 is spelled without exponent and with a decimal point; others as
 * `d.ddde±x`, the exponent with at least `exponentDigits` digits. `plus` says whether a positive exponent carries a sign.
 */
function spell(value: number, smallestPoint: number, exponentDigits: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const size = Math.abs(value);
  if (size >= 0.001 && size < 1e15) {
    // Here JavaScript spells it the same, but for the point.
    const text = String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  const sign = value < 0 ? '-' : '';
  const { digits, point } = shortest(value);
  if (point > 16 || point < smallestPoint) {
    const exponent = point - 1;
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    const power = String(Math.abs(exponent)).padStart(exponentDigits, '0');
    return `${sign}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${power}`;
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (digits.length <= point) return `${sign}${digits.padEnd(point, '0')}.0`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/**
 * A double as Python prints it (protocol section 3): always with a decimal point or an exponent, `1.0`, `1e-07`, `1e+16`. What is not
 * finite comes out as Python's words `nan`, `inf`, `-inf`, which are no JSON.
 */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  return spell(value, -3, 2);
}

/** A double as orjson (3.11.7 and later) prints it (protocol section 8): `1.0`, `0.00001`, `1e-7`, `1e+16`; `null` where it is not finite. */
export function orjsonFloat(value: number): string {
  return Number.isFinite(value) ? spell(value, -4, 1) : 'null';
}

/** Whether a number token is an integer for Python: no fraction, no exponent, and none of the words for non-finite doubles. */
export function isIntegerToken(token: string): boolean {
  return !/[.eEIN]/.test(token);
}

/** An integer token in full, as Python prints it. */
export function integerText(token: string): string {
  return token === '-0' ? '0' : token;
}

/** What Python's `bool(value)` says of a JSON value. An absent one is false. */
export function pythonTruth(node: JsonNode | undefined): node is JsonNode {
  if (node === undefined) return false;
  switch (node.kind) {
    case 'null':
    case 'false':
    case 'skipped':
      return false;
    case 'true':
      return true;
    case 'number':
      return node.number() !== 0;
    case 'string':
      return node.end - node.start > 2;
    case 'array':
    case 'object':
      return node.children.length > 0;
    default:
      return unreachable(node.kind);
  }
}

/** What Python's `str(value)` says of a JSON value: a string as it is, everything else as Python would print it. */
export function pythonStr(node: JsonNode): string {
  return node.kind === 'string' ? (node.string() as string) : pythonRepr(node);
}

function pythonRepr(node: JsonNode): string {
  switch (node.kind) {
    case 'null':
    case 'skipped':
      return 'None';
    case 'true':
      return 'True';
    case 'false':
      return 'False';
    case 'number': {
      const token = node.rawText();
      return isIntegerToken(token) ? integerText(token) : pythonFloat(Number(token));
    }
    case 'string':
      return pythonStringRepr(node.string() as string);
    case 'array':
      return `[${node.children.map(pythonRepr).join(', ')}]`;
    case 'object': {
      const members = [...node.members()].map(([key, value]) => `${pythonStringRepr(key)}: ${pythonRepr(value)}`);
      return `{${members.join(', ')}}`;
    }
    default:
      return unreachable(node.kind);
  }
}

/** Python's `repr` of a string: single quotes unless only they occur, what is not printable escaped. */
function pythonStringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const character of text) out += reprCharacter(character, quote);
  return out + quote;
}

function reprCharacter(character: string, quote: string): string {
  switch (character) {
    case '\\':
      return '\\\\';
    case '\n':
      return '\\n';
    case '\r':
      return '\\r';
    case '\t':
      return '\\t';
    case quote:
      return `\\${quote}`;
    case ' ':
      return ' ';
  }
  if (!/[\p{C}\p{Z}]/u.test(character)) return character;
  const code = character.codePointAt(0) as number;
  if (code <= 0xff) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** Python's `str.strip()`: its idea of white space is neither JSON's nor JavaScript's. */
export function pythonStrip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isPythonSpace(text.charCodeAt(start))) start++;
  while (end > start && isPythonSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isPythonSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x1f);
  if (code < 0x1680) return code === 0x85 || code === 0xa0;
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

function unreachable(kind: never): never {
  throw new Error(`unknown kind of JSON value: ${String(kind)}`);
}
