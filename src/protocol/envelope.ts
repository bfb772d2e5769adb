import type { JsonNode } from './json/json-node.ts';

/**
 * Content of the envelope item (protocol section 13): the JSON text of `{"instructions":..., "tools":...}` as Python's `json.dumps` prints it with
 * sorted keys: separators `", "` and `": "`, everything outside ASCII escaped. Both keys always stand there, null where absent. Null where
 * neither is present; an empty string, list or object is not.
 */
export function requestEnvelope(instructions: JsonNode | undefined, tools: JsonNode | undefined): string | null {
  if (isEmpty(instructions) && isEmpty(tools)) return null;
  return `{"instructions": ${pythonJson(instructions)}, "tools": ${pythonJson(tools)}}`;
}

function isEmpty(node: JsonNode | undefined): boolean {
  if (node === undefined) return true;
  switch (node.kind) {
    case 'null':
    case 'false':
      return true;
    case 'string':
      return node.end - node.start === 2;
    case 'number':
      return node.number() === 0;
    case 'array':
    case 'object':
      return node.children.length === 0;
    case 'true':
    case 'skipped':
      return false;
    default: {
      const never: never = node.kind;
      return never;
    }
  }
}

function pythonJson(node: JsonNode | undefined): string {
  if (node === undefined) return 'null';
  switch (node.kind) {
    case 'object': {
      const members = [...node.members()].sort(([a], [b]) => comparePoints(a, b));
      return `{${members.map(([key, value]) => `${pythonString(key)}: ${pythonJson(value)}`).join(', ')}}`;
    }
    case 'array':
      return `[${node.children.map(pythonJson).join(', ')}]`;
    case 'string':
      return pythonString(node.string() as string);
    case 'number':
      return pythonNumber(node.rawText());
    case 'true':
    case 'false':
    case 'null':
      return node.kind;
    case 'skipped':
      return node.rawText();
    default: {
      const never: never = node.kind;
      return never;
    }
  }
}

/** Order by code point; UTF-16 order puts surrogates before U+E000. */
function comparePoints(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length) {
    const left = a.codePointAt(at) as number;
    const right = b.codePointAt(at) as number;
    if (left !== right) return left - right;
    at += left > 0xffff ? 2 : 1;
  }
  return a.length - b.length;
}

function pythonString(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) =>
    unit === '\u007f' ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Integers in full; everything else as Python prints the double. */
function pythonNumber(source: string): string {
  if (/^-?\d+$/.test(source)) return source === '-0' ? '0' : source;
  const value = Number(source);
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [digits, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${digits}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  const fixed =
    exponent < 0 ? value.toFixed(Math.min(100, digits.replace(/^-?\d\.?/, '').length - exponent)) : String(value);
  return fixed.includes('.') ? fixed : `${fixed}.0`;
}
