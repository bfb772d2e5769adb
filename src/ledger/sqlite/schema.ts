import type { DatabaseSync } from 'node:sqlite';

/**
 * Tables by schema version (`PRAGMA user_version`); entry n leads from version n to n + 1. Never edit one that was released: add the next.
 *
 * Rows of an attempt are keyed by its number, not its name: retiring or deleting takes the number away from the name in one step, and the rows behind it are
 * cleared in small portions afterwards (`doomed`). Records have the key `attempt * RECORDS_PER_ATTEMPT + commit number`, and lie in the order in which they came: put
 * between others, a row of their size has four pages written instead of one.
 * Counters in `attempt` follow from the other tables; they are written once per transaction.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE run (number INTEGER NOT NULL) STRICT;
  INSERT INTO run VALUES (0);

  CREATE TABLE attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    state INTEGER NOT NULL,
    intents INTEGER NOT NULL,
    records INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    unsettled INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    last_activity_s REAL NOT NULL
  ) STRICT;
  CREATE INDEX attempt_open ON attempt (state) WHERE state = 0;
  CREATE TABLE doomed (id INTEGER PRIMARY KEY) STRICT;

  CREATE TABLE call (
    attempt INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    handed INTEGER NOT NULL,
    run INTEGER NOT NULL,
    replica TEXT NOT NULL,
    admitted_at_s REAL NOT NULL,
    request TEXT NOT NULL,
    candidate INTEGER,
    rooted_by TEXT,
    named_call_id TEXT,
    records_seen INTEGER NOT NULL,
    record INTEGER,
    refused_code TEXT,
    request_digest TEXT,
    idempotency_key TEXT,
    PRIMARY KEY (attempt, call_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX call_pending ON call (attempt, seq, failed, admitted_at_s) WHERE state = 0;
  CREATE INDEX call_refused ON call (attempt, seq) WHERE state = 2;
  CREATE INDEX call_key ON call (attempt, idempotency_key, seq) WHERE idempotency_key IS NOT NULL;

  CREATE TABLE failure (
    id INTEGER PRIMARY KEY,
    attempt INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    UNIQUE (attempt, call_id, reason)
  ) STRICT;

  CREATE TABLE record (
    key INTEGER PRIMARY KEY,
    call_id TEXT NOT NULL,
    parent_call_id TEXT,
    response_id TEXT NOT NULL,
    cum_len INTEGER NOT NULL,
    chain_hash TEXT NOT NULL,
    cumulative_hash TEXT NOT NULL,
    item_count INTEGER NOT NULL,
    source_digest TEXT NOT NULL,
    empty_tool_content_digest TEXT NOT NULL,
    render_digest TEXT NOT NULL,
    output_ids TEXT NOT NULL,
    chunk INTEGER NOT NULL,
    chunk_end INTEGER NOT NULL,
    sketch TEXT NOT NULL,
    json TEXT NOT NULL
  ) STRICT;
  CREATE TABLE root (key INTEGER PRIMARY KEY, call_id TEXT NOT NULL, why TEXT NOT NULL) STRICT;
  CREATE TABLE lookup (
    attempt INTEGER NOT NULL,
    term TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (attempt, term, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE chunk (
    attempt INTEGER NOT NULL,
    number INTEGER NOT NULL,
    before INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (attempt, number)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE reply (
    attempt INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    until_s REAL NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (attempt, call_id)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE record RENAME TO record_by_key;
  CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE,
    call_id TEXT NOT NULL,
    parent_call_id TEXT,
    response_id TEXT NOT NULL,
    cum_len INTEGER NOT NULL,
    chain_hash TEXT NOT NULL,
    cumulative_hash TEXT NOT NULL,
    item_count INTEGER NOT NULL,
    source_digest TEXT NOT NULL,
    empty_tool_content_digest TEXT NOT NULL,
    render_digest TEXT NOT NULL,
    output_ids TEXT NOT NULL,
    chunk INTEGER NOT NULL,
    chunk_end INTEGER NOT NULL,
    sketch TEXT NOT NULL,
    json TEXT NOT NULL
  ) STRICT;
  INSERT INTO record SELECT NULL, * FROM record_by_key ORDER BY key;
  DROP TABLE record_by_key;

  ALTER TABLE call RENAME TO call_by_id;
  CREATE TABLE call (
    id INTEGER PRIMARY KEY,
    attempt INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    handed INTEGER NOT NULL,
    run INTEGER NOT NULL,
    replica TEXT NOT NULL,
    admitted_at_s REAL NOT NULL,
    request TEXT NOT NULL,
    candidate INTEGER,
    rooted_by TEXT,
    named_call_id TEXT,
    records_seen INTEGER NOT NULL,
    record INTEGER,
    refused_code TEXT,
    request_digest TEXT,
    idempotency_key TEXT,
    UNIQUE (attempt, call_id)
  ) STRICT;
  INSERT INTO call SELECT NULL, * FROM call_by_id ORDER BY attempt, seq;
  DROP TABLE call_by_id;
  CREATE INDEX call_pending ON call (attempt, seq, failed, admitted_at_s) WHERE state = 0;
  CREATE INDEX call_refused ON call (attempt, seq) WHERE state = 2;
  CREATE INDEX call_key ON call (attempt, idempotency_key, seq) WHERE idempotency_key IS NOT NULL;
  `,
];

/** Brings the file to this version's schema. Throws an Error for a file of a later version. */
export function migrate(db: DatabaseSync): void {
  const { user_version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (user_version > MIGRATIONS.length) {
    throw new Error(`it was written by a later version (schema ${user_version}; this one knows ${MIGRATIONS.length})`);
  }
  for (let version = user_version; version < MIGRATIONS.length; version += 1) {
    db.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[version]} PRAGMA user_version = ${version + 1}; COMMIT;`);
  }
}
