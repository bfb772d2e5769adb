import type { JsonNode } from '../../src/protocol/json/json-node.ts';

/** A JSON value as Python's json.loads and json.dumps hand it on: spaces after separators, floats in Python's spelling, last duplicate wins. */
export function pythonJson(node: JsonNode, asciiOnly: boolean): string {
  switch (node.kind) {
    case 'object':
      return `{${[...node.members()].map(([key, value]) => `${pythonString(key, asciiOnly)}: ${pythonJson(value, asciiOnly)}`).join(', ')}}`;
    case 'array':
      return `[${node
        .elements()
        .map((value) => pythonJson(value, asciiOnly))
        .join(', ')}]`;
    case 'string':
      return pythonString(node.string() as string, asciiOnly);
    case 'number':
      return pythonNumber(node.rawText());
    default:
      return node.rawText();
  }
}

function pythonString(text: string, asciiOnly: boolean): string {
  const json = JSON.stringify(text);
  if (!asciiOnly) return json;
  return json.replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Integers keep their digits, everything else is the shortest float, with a point or an exponent of two digits. */
function pythonNumber(source: string): string {
  if (/^-?\d+$/.test(source)) return source === '-0' ? '0' : source;
  const value = Number(source);
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (value !== 0 && (exponent < -4 || exponent >= 16)) return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.includes('.') || text.includes('e') ? text : `${text}.0`;
}
