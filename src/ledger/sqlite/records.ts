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
  const key = recordKey(attempt, number);
  const cached = store.records.get(key);
  if (cached) return cached;
  const row = store.db.get<Omit<RecordRow, 'number'>>(`SELECT ${COLUMNS} FROM record WHERE key = ?`, key);
  if (!row) throw new Error(`record ${number} of attempt ${attempt.name} is missing in the ledger file`);
  const record = { ...row, number };
  store.records.set(key, record);
  return record;
}

/** Records whose summary may equal one with this second digest, in commit order; the caller compares in full. */
export function findBySummary(store: Store, attempt: Attempt, emptyToolContentDigest: string): RecordRow[] {
  return lookUp(store, attempt, summaryTerm(emptyToolContentDigest), LOOKUP);
}

/** At most two records with this response id: more need not be told apart. */
export function findByResponse(store: Store, attempt: Attempt, responseId: string): RecordRow[] {
  return lookUp(store, attempt, responseTerm(responseId), `${LOOKUP} LIMIT 2`);
}

/**
 * Neither ordered nor with a limit that is a parameter: SQLite plans both by the values of the parameters, so it would prepare the statement anew each time, which
 * costs three times the search.
 */
const LOOKUP = 'SELECT number FROM lookup WHERE attempt = ? AND term = ?';

function lookUp(store: Store, attempt: Attempt, term: string, sql: string): RecordRow[] {
  return store.db
    .all<{ number: number }>(sql, attempt.id, term)
    .sort((a, b) => a.number - b.number)
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
  const outputIds = JSON.stringify(index.outputIds);
  const place = insertEntry(store, attempt, parent, entryText(attempt.name, index));
  store.db.change(
    'INSERT INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
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
    outputIds,
    place.chunk,
    place.end,
    record.sketchJson,
    record.recordJson,
  );
  const [summary, response] = [summaryTerm(index.emptyToolContentDigest), responseTerm(index.responseId)];
  const { id } = attempt;
  store.db.change('INSERT INTO lookup VALUES (?, ?, ?), (?, ?, ?)', id, summary, number, id, response, number);
  store.records.set(recordKey(attempt, number), {
    number,
    call_id: callId,
    cum_len: index.cumLen,
    chain_hash: index.chainHash,
    cumulative_hash: index.cumulativeHash,
    item_count: index.itemCount,
    source_digest: index.sourceDigest,
    empty_tool_content_digest: index.emptyToolContentDigest,
    render_digest: index.renderDigest,
    output_ids: outputIds,
    chunk: place.chunk,
    chunk_end: place.end,
  });
  attempt.records += 1;
  return number;
}

/** See ancestry.ts. */
function insertEntry(store: Store, attempt: Attempt, parent: RecordRow | null, entry: string): Place {
  const place = parent && { chunk: parent.chunk, end: parent.chunk_end };
  const { append, chunk } = placeEntry(entry, place && { place, chunk: readChunk(store, attempt, place.chunk) });
  if (!append) attempt.chunks += 1;
  const number = append ? place!.chunk : attempt.chunks;
  const sql = append
    ? 'UPDATE chunk SET before = ?, body = ? WHERE attempt = ? AND number = ?'
    : 'INSERT INTO chunk (before, body, attempt, number) VALUES (?, ?, ?, ?)';
  store.db.change(sql, chunk.before, chunk.body, attempt.id, number);
  store.chunks.set(chunkKey(attempt, number), chunk);
  return { chunk: number, end: chunk.body.length };
}

/** There are no more chunks than records. */
const chunkKey = (attempt: Attempt, number: number) => attempt.id * RECORDS_PER_ATTEMPT + number;

function readChunk(store: Store, attempt: Attempt, number: number): Chunk {
  const cached = store.chunks.get(chunkKey(attempt, number));
  if (cached) return cached;
  const chunk = store.db.get<Chunk>(
    'SELECT before, body FROM chunk WHERE attempt = ? AND number = ?',
    attempt.id,
    number,
  );
  if (!chunk) throw new Error(`chunk ${number} of attempt ${attempt.name} is missing in the ledger file`);
  store.chunks.set(chunkKey(attempt, number), chunk);
  return chunk;
}

/** All chunks before one, the nearest first, in one statement. */
const CHUNKS_BEFORE = `
  WITH RECURSIVE up (before, body, step) AS (
    SELECT before, body, 0 FROM chunk WHERE attempt = ?1 AND number = ?2
    UNION ALL
    SELECT chunk.before, chunk.body, step + 1 FROM up JOIN chunk ON chunk.attempt = ?1 AND chunk.number = up.before WHERE up.before <> 0
  )
  SELECT body FROM up ORDER BY step`;

/** Chunk texts of a call's ancestry, its own last. */
function ancestryTexts(store: Store, attempt: Attempt, record: RecordRow): string[] {
  const last = readChunk(store, attempt, record.chunk);
  const before = last.before === 0 ? [] : store.db.all<{ body: string }>(CHUNKS_BEFORE, attempt.id, last.before);
  return [...before.map(({ body }) => body).reverse(), last.body.slice(0, record.chunk_end)];
}

export function ancestryOf(store: Store, attempt: Attempt, record: RecordRow): Ancestry {
  return readAncestry(attempt.name, ancestryTexts(store, attempt, record));
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
