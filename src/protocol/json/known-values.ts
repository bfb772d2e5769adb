import type { JsonNode } from './json-node.ts';
import { PrefixMemo } from './prefix-memo.ts';

/**
 * Values of earlier texts that were parsed with the same options. Where one stands in the new text byte for byte, in the same place of the tree, its node is taken
 * over instead of a new one: the same node says the same value, so whatever was derived from it holds again.
 */
export interface KnownValues {
  /** Top-level members by name; objects, arrays and strings. */
  readonly members: ReadonlyMap<string, JsonNode>;
  /** A top-level member that is an array, and the elements that it had: objects. Lists that began alike share their nodes. */
  readonly listName: string;
  readonly lists: readonly (readonly JsonNode[])[];
}

/** Shorter members cost less to parse than to keep. */
const LEAST_MEMBER_BYTES = 256;
/** Lists that one sender is known to go on with: its main history, and those of helpers that it runs beside. */
const MOST_LISTS = 4;

/** What is kept of a parsed text so that the next one like it can take nodes over. */
export class SeenValues implements KnownValues {
  readonly listName: string;
  readonly members = new Map<string, JsonNode>();
  readonly lists: (readonly JsonNode[])[] = [];

  constructor(listName: string) {
    this.listName = listName;
  }

  /**
   * Makes the new values of a text independent of it, so that keeping them does not keep the text: those that were not taken over are moved into copies of their own.
   * To be done before anything is derived from them.
   */
  detach(body: JsonNode): void {
    body.keys.forEach((key, at) => {
      const value = body.children[at] as JsonNode;
      if (key === this.listName) detachRun(value.children.filter((element) => element.bytes === body.bytes));
      else if (isWorthKeeping(value) && value.bytes === body.bytes) detachRun([value]);
    });
  }

  /** Remembers the values of a text that was detached. */
  remember(body: JsonNode): void {
    body.keys.forEach((key, at) => {
      const value = body.children[at] as JsonNode;
      if (key === this.listName) this.#rememberList(value.children);
      else if (isWorthKeeping(value)) this.members.set(key, value);
    });
  }

  /** Bytes of all that is kept; what lists share counts once. */
  get bytes(): number {
    let sum = bytesOf(this.members.values());
    const [only] = this.lists;
    // One list shares nothing.
    if (only !== undefined)
      sum += this.lists.length === 1 ? SIZES.ofAll(only).bytes : bytesOf(new Set(this.lists.flat()));
    return sum;
  }

  /** A list takes the place of the one that it goes on with, else that of the one that was not used for longest. */
  #rememberList(list: readonly JsonNode[]): void {
    if (list.length === 0 || !SIZES.ofAll(list).allObjects) return;
    const before = this.lists.findIndex((known) => list[known.length - 1] === known.at(-1));
    if (before !== -1) this.lists.splice(before, 1);
    this.lists.unshift(list);
    this.lists.length = Math.min(this.lists.length, MOST_LISTS);
  }
}

interface Size {
  bytes: number;
  allObjects: boolean;
}

const SIZES = new PrefixMemo<JsonNode, Size>({
  start: () => ({ bytes: 0, allObjects: true }),
  step(size, element) {
    size.bytes += element.end - element.start;
    size.allObjects &&= element.isObject();
    return size;
  },
  fork: (size) => ({ ...size }),
});

function bytesOf(values: Iterable<JsonNode>): number {
  let sum = 0;
  for (const { start, end } of values) sum += end - start;
  return sum;
}

function isWorthKeeping({ kind, start, end }: JsonNode): boolean {
  return end - start >= LEAST_MEMBER_BYTES && (kind === 'object' || kind === 'array' || kind === 'string');
}

/** Moves neighbours into one copy of the text from the first to the last of them. */
function detachRun(nodes: readonly JsonNode[]): void {
  const [first, last] = [nodes[0], nodes.at(-1)];
  if (first === undefined || last === undefined) return;
  const { bytes, start } = first;
  // Not from the pool: the rest of its piece would be kept, too, ten times as much.
  const copy = Buffer.allocUnsafeSlow(last.end - start);
  bytes.copy(copy, 0, start, last.end);
  for (const node of nodes) node.moveTo(copy, -start);
}

/** The first index after `from` whose element does not stand behind the one before it in the same text. */
export function endOfPiece(list: readonly JsonNode[], from: number): number {
  const bytes = list[from]?.bytes;
  let end = from + 1;
  while (end < list.length && list[end]?.bytes === bytes) end++;
  return end;
}
