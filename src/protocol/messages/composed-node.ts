import { jsonString } from '../json/fragment.ts';
import { escapeBytesOf } from '../json/json-bytes.ts';
import { type JsonKind, JsonNode } from '../json/json-node.ts';

const NO_BYTES = Buffer.alloc(0);

/**
 * An object or array put together from values that stand in different texts, so that a converted request can be read as JSON without being
 * written and parsed again. Its source text is made when somebody asks for it.
 */
class ComposedNode extends JsonNode {
  private text: Buffer | undefined;

  constructor(kind: JsonKind, children: readonly JsonNode[], keys: readonly string[]) {
    super(NO_BYTES, kind, 0, 0, 0, children, keys);
  }

  override raw(): Buffer {
    this.text ??= Buffer.from(this.kind === 'array' ? `[${this.children.map(rawText).join(',')}]` : this.objectText());
    return this.text;
  }

  override rawText(): string {
    return this.raw().toString('utf8');
  }

  private objectText(): string {
    return `{${this.keys.map((key, at) => `${jsonString(key)}:${rawText(this.children[at] as JsonNode)}`).join(',')}}`;
  }
}

/** An object of these members, in order. */
export function objectNode(members: Readonly<Record<string, JsonNode>>): JsonNode {
  return new ComposedNode('object', Object.values(members), Object.keys(members));
}

/** An array of these values. */
export function arrayNode(elements: readonly JsonNode[]): JsonNode {
  return new ComposedNode('array', elements, []);
}

/** A string value of our own. */
export function stringNode(text: string): JsonNode {
  const bytes = Buffer.from(jsonString(text));
  return new JsonNode(bytes, 'string', 0, bytes.length, escapeBytesOf(bytes));
}

/** `null`, `true` or `false`. */
export function literalNode(word: 'null' | 'true' | 'false'): JsonNode {
  return new JsonNode(Buffer.from(word), word, 0, word.length);
}

function rawText(node: JsonNode): string {
  return node.rawText();
}
