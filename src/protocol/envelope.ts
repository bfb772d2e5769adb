import { sortedMembers } from '../lineage/canonical-json.ts';
import { integerText, isIntegerToken, pythonFloat, pythonTruth } from '../lineage/python-text.ts';
import type { JsonNode } from './json/json-node.ts';

/**
 * Content of the envelope item (protocol section 13): the JSON text of `{"instructions":..., "tools":...}` as Python's `json.dumps` prints it with
 * sorted keys: separators `", "` and `": "`, everything outside ASCII escaped. Both keys always stand there, null where absent. Null where
 * neither is present; what Python takes for false (an empty string, list or object) is not present.
 */
export function requestEnvelope(instructions: JsonNode | undefined, tools: JsonNode | undefined): string | null {
  if (!pythonTruth(instructions) && !pythonTruth(tools)) return null;
  return `{"instructions": ${dumps(instructions)}, "tools": ${dumps(tools)}}`;
}

function dumps(node: JsonNode | undefined): string {
  if (node === undefined) return 'null';
  switch (node.kind) {
    case 'object': {
      const members = sortedMembers(node).map(([key, value]) => `${asciiString(key)}: ${dumps(value)}`);
      return `{${members.join(', ')}}`;
    }
    case 'array':
      return `[${node.children.map(dumps).join(', ')}]`;
    case 'string':
      return asciiString(node.string() as string);
    case 'number': {
      const token = node.rawText();
      return isIntegerToken(token) ? integerText(token) : floatText(Number(token));
    }
    case 'true':
    case 'false':
    case 'null':
      return node.kind;
    case 'skipped':
      return 'null';
    default: {
      const never: never = node.kind;
      return never;
    }
  }
}

/** Python's `json.dumps` has words of its own for what is beyond a double. */
function floatText(value: number): string {
  if (Number.isFinite(value)) return pythonFloat(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function asciiString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
