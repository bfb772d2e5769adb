import { type Ancestry, type Chunk, entryText, type Place, placeEntry, readAncestry } from '../ancestry.ts';
import type { Candidate, RecordIndex } from '../ledger.ts';
import { type Attempt, RECORDS_PER_ATTEMPT } from './attempts.ts';
import type { Store } from './store.ts';

/** A committed call without its texts: what the search compares. */
export interface RecordRow {
  readonly number: number;
  readonly call_id: string;
  readonly cum_len: number;
  readonly chain_hash: string;
  readonly cumulative_hash: string;
  readonly item_count: number;
  readonly source_digest: string;
  readonly empty_tool_content_digest: string;
  readonly render_digest: string;
  readonly output_ids: string;
  readonly chunk: number;
  readonly chunk_end: number;
}

const COLUMNS =
  'call_id, cum_len, chain_hash, cumulative_hash, item_count, source_digest, empty_tool_content_digest, render_digest, output_ids, chunk, chunk_end';
const summaryTerm = (emptyToolContentDigest: string) => `d${emptyToolContentDigest.slice(0, 32)}`;
const responseTerm = (responseId: string) => `r${responseId}`;

export const recordKey = (attempt: Attempt, number: number) => attempt.id * RECORDS_PER_ATTEMPT + number;

export function readRecord(store: Store, attempt: Attempt, number: number): RecordRow {
  const row = store.db.get<Omit<RecordRow, 'number'>>(
    `SELECT ${COLUMNS} FROM record WHERE key = ?`,
    recordKey(attempt, number),
  );
  if (!row) throw new Error(`record ${number} of attempt ${attempt.name} is missing in the ledger file`);
  return { ...row, number };
}

/** Records whose summary may equal one with this second digest, in commit order; the caller compares in full. */
export function findBySummary(store: Store, attempt: Attempt, emptyToolContentDigest: string): RecordRow[] {
  return lookUp(store, attempt, summaryTerm(emptyToolContentDigest), -1);
}

/** At most two records with this response id: more need not be told apart. */
export function findByResponse(store: Store, attempt: Attempt, responseId: string): RecordRow[] {
  return lookUp(store, attempt, responseTerm(responseId), 2);
}

function lookUp(store: Store, attempt: Attempt, term: string, limit: number): RecordRow[] {
  const sql = 'SELECT number FROM lookup WHERE attempt = ? AND term = ? ORDER BY number LIMIT ?';
  return store.db
    .all<{ number: number }>(sql, attempt.id, term, limit)
    .map(({ number }) => readRecord(store, attempt, number));
}

/** Numbers, places and writes a record; returns its commit number. */
export function insertRecord(
  store: Store,
  attempt: Attempt,
  record: {
    readonly callId: string;
    readonly parent: RecordRow | null;
    readonly index: RecordIndex;
    readonly sketchJson: string;
    readonly recordJson: string;
  },
): number {
  const { callId, parent, index } = record;
  const number = attempt.records;
  const place = insertEntry(store, attempt, parent, entryText(attempt.name, index));
  store.db.change(
    'INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    recordKey(attempt, number),
    callId,
    index.parentCallId,
    index.responseId,
    index.cumLen,
    index.chainHash,
    index.cumulativeHash,
    index.itemCount,
    index.sourceDigest,
    index.emptyToolContentDigest,
    index.renderDigest,
    JSON.stringify(index.outputIds),
    place.chunk,
    place.end,
    record.sketchJson,
    record.recordJson,
  );
  for (const term of [summaryTerm(index.emptyToolContentDigest), responseTerm(index.responseId)]) {
    store.db.change('INSERT INTO lookup VALUES (?, ?, ?)', attempt.id, term, number);
  }
  attempt.records += 1;
  return number;
}

/** See ancestry.ts. */
function insertEntry(store: Store, attempt: Attempt, parent: RecordRow | null, entry: string): Place {
  const parentPlace = parent && { chunk: parent.chunk, end: parent.chunk_end };
  const { append, chunk } = placeEntry(
    entry,
    parentPlace && { place: parentPlace, chunk: readChunk(store, attempt, parentPlace.chunk) },
  );
  if (append) {
    store.db.change(
      'UPDATE chunk SET body = ? WHERE attempt = ? AND number = ?',
      chunk.body,
      attempt.id,
      parentPlace!.chunk,
    );
    return { chunk: parentPlace!.chunk, end: chunk.body.length };
  }
  attempt.chunks += 1;
  store.db.change('INSERT INTO chunk VALUES (?, ?, ?, ?)', attempt.id, attempt.chunks, chunk.before, chunk.body);
  return { chunk: attempt.chunks, end: chunk.body.length };
}

function readChunk(store: Store, attempt: Attempt, number: number): Chunk {
  const chunk = store.db.get<Chunk>(
    'SELECT before, body FROM chunk WHERE attempt = ? AND number = ?',
    attempt.id,
    number,
  );
  if (!chunk) throw new Error(`chunk ${number} of attempt ${attempt.name} is missing in the ledger file`);
  return chunk;
}

export function ancestryOf(store: Store, attempt: Attempt, record: RecordRow): Ancestry {
  const last = readChunk(store, attempt, record.chunk);
  const bodies = [last.body.slice(0, record.chunk_end)];
  for (let number = last.before; number !== 0; ) {
    const chunk = readChunk(store, attempt, number);
    bodies.push(chunk.body);
    number = chunk.before;
  }
  return readAncestry(attempt.name, bodies.reverse());
}

/** The record as it is proposed to a request with this exact digest. */
export function toCandidate(store: Store, attempt: Attempt, record: RecordRow, sourceDigest: string): Candidate {
  return {
    callId: record.call_id,
    cumLen: record.cum_len,
    chainHash: record.chain_hash,
    stagingChain: ancestryOf(store, attempt, record).stagingChain,
    itemCount: record.item_count,
    sourceDigest: record.source_digest,
    emptyToolContentDigest: record.empty_tool_content_digest,
    renderDigest: record.render_digest,
    match: record.source_digest === sourceDigest ? 'exact' : 'empty_tool_content',
  };
}
