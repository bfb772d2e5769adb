import type { AttemptOverview, AttemptSnapshot, LedgerCheck, LedgerGauges, StoredSketch } from '../ledger.ts';
import { CLOSED, RECORDS_PER_ATTEMPT, RETIRED, STATE_NAMES } from './attempts.ts';
import { recordKey } from './records.ts';
import type { Store } from './store.ts';

export function unsettled(store: Store, name: string): number {
  return store.attempts.find(name)?.unsettled ?? 0;
}

export function snapshot(store: Store, name: string): AttemptSnapshot | 'retired' {
  const attempt = store.attempts.find(name);
  if (!attempt) {
    return {
      state: 'open',
      recordCount: 0,
      attemptedCallIds: [],
      pendingCallIds: [],
      failures: [],
      refused: [],
      whyRoot: [],
    };
  }
  if (attempt.state === RETIRED) return 'retired';
  const ids = (sql: string) => store.db.all<{ call_id: string }>(sql, attempt.id).map((row) => row.call_id);
  const range = [recordKey(attempt, 0), recordKey(attempt, RECORDS_PER_ATTEMPT - 1)] as const;
  return {
    state: attempt.state === CLOSED ? 'closed' : 'open',
    recordCount: attempt.records,
    attemptedCallIds: ids('SELECT call_id FROM call WHERE attempt = ? ORDER BY seq'),
    pendingCallIds: ids('SELECT call_id FROM call WHERE attempt = ? AND state = 0 ORDER BY seq'),
    failures: store.db.all('SELECT call_id AS callId, reason FROM failure WHERE attempt = ? ORDER BY id', attempt.id),
    refused: store.db.all(
      'SELECT call_id AS callId, refused_code AS code FROM call WHERE attempt = ? AND state = 2 ORDER BY seq',
      attempt.id,
    ),
    whyRoot: store.db.all(
      'SELECT call_id AS callId, why AS json FROM root WHERE key BETWEEN ? AND ? ORDER BY key',
      ...range,
    ),
  };
}

export function records(store: Store, name: string, from: number, limit: number): string[] {
  const attempt = store.attempts.find(name);
  if (!attempt || limit <= 0) return [];
  const last = Math.min(from + limit, attempt.records) - 1;
  const sql = 'SELECT json FROM record WHERE key BETWEEN ? AND ? ORDER BY key';
  return store.db.all<{ json: string }>(sql, recordKey(attempt, from), recordKey(attempt, last)).map((row) => row.json);
}

/** Sketches of the records `from` .. `before - 1`. */
export function sketches(store: Store, name: string, from: number, before: number): StoredSketch[] {
  const attempt = store.attempts.find(name);
  if (!attempt) return [];
  return store.db.all(
    `SELECT call_id AS callId, parent_call_id AS parentCallId, render_digest AS renderDigest, sketch AS sketchJson
     FROM record WHERE key BETWEEN ? AND ? ORDER BY key`,
    recordKey(attempt, from),
    recordKey(attempt, Math.min(before, attempt.records) - 1),
  );
}

export function attempts(store: Store, cursor: string | null, limit: number): AttemptOverview[] {
  const rows = store.db.all<Omit<AttemptOverview, 'state'> & { state: number }>(
    `SELECT name AS attempt, state, records, pending, failures, refused, last_activity_s AS lastActivityS
     FROM attempt WHERE name > ? ORDER BY name LIMIT ?`,
    cursor ?? '',
    limit,
  );
  return rows.map((row) => ({ ...row, state: STATE_NAMES[row.state]! }));
}

export function gauges(store: Store): LedgerGauges {
  const open = store.db.get<{ n: number }>('SELECT count(*) AS n FROM attempt WHERE state = 0')!;
  const pending = store.db.get<{ n: number; oldest: number | null }>(
    'SELECT count(*) AS n, min(CASE WHEN failed = 0 THEN admitted_at_s END) AS oldest FROM call WHERE state = 0',
  )!;
  return {
    openAttempts: open.n,
    pendingCalls: pending.n,
    oldestPendingS: pending.oldest,
    keptReplyBytes: store.kept.bytes,
  };
}

const SYNCHRONOUS = ['OFF', 'NORMAL', 'FULL', 'EXTRA'];

/** Throws where nothing could be written. */
export function ready(store: Store): void {
  store.db.assertInPlace();
  if (!store.db.isTransaction) store.db.assertWritable();
}

export function check(store: Store): LedgerCheck[] {
  const pragma = (name: string) => Object.values(store.db.get<Record<string, unknown>>(`PRAGMA ${name}`) ?? {})[0];
  const mode = String(pragma('journal_mode'));
  const synchronous = SYNCHRONOUS[Number(pragma('synchronous'))] ?? 'unknown';
  return [
    { name: 'ledger_reachable', ok: true, detail: `SQLite, schema ${pragma('user_version')}` },
    {
      name: 'ledger_journal',
      ok: mode === 'wal',
      detail: `journal_mode ${mode}${mode === 'memory' ? ': nothing survives this process' : ''}`,
    },
    { name: 'ledger_sync', ok: synchronous === 'FULL', detail: `synchronous ${synchronous}` },
    checkIntegrity(store),
  ];
}

const LARGEST_FILE_CHECKED = 64 * 1024 * 1024;

/** Once per process, and only for files that are read in a moment: nothing else can be done meanwhile. */
function checkIntegrity(store: Store): LedgerCheck {
  store.integrity ??= findIntegrity(store);
  return { name: 'ledger_integrity', ...store.integrity };
}

function findIntegrity(store: Store): Omit<LedgerCheck, 'name'> {
  const { bytes } = store.db.get<{ bytes: number }>(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  )!;
  if (bytes > LARGEST_FILE_CHECKED)
    return { ok: true, detail: `not checked: the file has ${Math.round(bytes / 1024 / 1024)} MiB` };
  const result = String(store.db.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check);
  return { ok: result === 'ok', detail: `quick_check: ${result}` };
}
