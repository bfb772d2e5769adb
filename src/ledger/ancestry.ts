import type { RecordIndex } from './ledger.ts';

/**
 * The ancestry of a call (its staging chain, and under `lineage.reasoning: optional` its reasoning digests) without a copy per call and without a read per
 * ancestor. Entries lie in chunks of text; a chunk names the chunk before it, and a call is a place in a chunk: everything up to there, and all chunks before,
 * is its ancestry.
 *
 *     chunk 1 [c1 c2 c3 ... c30] ◀── chunk 2 [c31 c32]        c32's ancestry: chunk 1, chunk 2
 *                                ◀── chunk 3 [c31 c32']       a fork at c31: the part before it is copied, at most one chunk
 *
 * A child of the last call of a chunk is appended. A child of an inner call starts a chunk of its own with a copy of what comes before, so a chunk that has
 * a successor is always whole, and reading takes one step per CHUNK_BYTES of ancestry however often the attempt forks.
 */
export interface Place {
  readonly chunk: number;
  /** Characters of that chunk that belong to the ancestry. */
  readonly end: number;
}

export interface Chunk {
  /** 0: none. */
  readonly before: number;
  /** Entries, each followed by a comma: JSON values, so that joined chunks can be read as one list. */
  readonly body: string;
}

export const CHUNK_BYTES = 1024;

/** One call of an ancestry. A plain string is the staging key without the `<attempt>/` that all of them share. */
type Entry = string | { readonly key: string; readonly reasoning: readonly (string | null)[] };

export interface Ancestry {
  readonly stagingChain: string[];
  /** One entry per assistant item, in order. */
  readonly reasoning: (string | null)[];
}

/** The text that a record adds to its chunk. */
export function entryText(attempt: string, index: Pick<RecordIndex, 'stagingKey' | 'reasoning'>): string {
  const owner = `${attempt}/`;
  const isShort = index.stagingKey.startsWith(owner) && index.reasoning === null;
  const entry: Entry = isShort
    ? index.stagingKey.slice(owner.length)
    : { key: index.stagingKey, reasoning: index.reasoning ?? [] };
  return `${JSON.stringify(entry)},`;
}

/** Reads the bodies of an ancestry, first chunk first, the last one cut at the call's place. */
export function readAncestry(attempt: string, bodies: readonly string[]): Ancestry {
  const entries = JSON.parse(`[${bodies.join('').slice(0, -1)}]`) as Entry[];
  const reasoning: (string | null)[] = [];
  const stagingChain = entries.map((entry) => {
    if (typeof entry === 'string') return `${attempt}/${entry}`;
    reasoning.push(...entry.reasoning);
    return entry.key;
  });
  return { stagingChain, reasoning };
}

/** Where a new entry goes: appended to the parent's chunk, or into a new one. `parent` null: a root. */
export function placeEntry(
  entry: string,
  parent: { readonly place: Place; readonly chunk: Chunk } | null,
): { readonly append: boolean; readonly chunk: Chunk } {
  if (!parent) return { append: false, chunk: { before: 0, body: entry } };
  const { place, chunk } = parent;
  if (place.end >= CHUNK_BYTES) return { append: false, chunk: { before: place.chunk, body: entry } };
  const body = chunk.body.slice(0, place.end) + entry;
  return { append: place.end === chunk.body.length, chunk: { before: chunk.before, body } };
}
