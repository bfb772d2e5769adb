import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { MIGRATIONS } from '../../src/ledger/sqlite/schema.ts';
import { addCall, admission, boundary, newCallId, nowS, parentOf, record } from './ledger/builders.ts';

describe('a SQLite file of an earlier version', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gym-proxy-migrations-'));
  });
  after(() => rm(folder, { recursive: true }));

  const withLedger = async <T>(file: string, use: (ledger: Ledger) => Promise<T>): Promise<T> => {
    const ledger = await openLedger({
      url: `sqlite:${file}`,
      replica: 'replica-a',
      now: nowS,
      replies: { keepBytes: 1_000_000, keepS: 900 },
      leaseS: 15,
      abandonedAfterS: null,
    });
    await ledger.start();
    try {
      return await use(ledger);
    } finally {
      await ledger.stop();
    }
  };

  /** What `file` holds, as the first version of the schema held it. */
  const asFirstVersion = (file: string): string => {
    const old = join(folder, 'first.db');
    const db = new DatabaseSync(old);
    db.exec(`${MIGRATIONS[0]} PRAGMA user_version = 1; ATTACH '${file}' AS later; DELETE FROM run`);
    const tables = db.prepare(`SELECT name FROM main.sqlite_schema WHERE type = 'table'`).all() as { name: string }[];
    for (const { name } of tables) {
      const columns = db.prepare(`SELECT name FROM pragma_table_info(?, 'main')`).all(name) as { name: string }[];
      const list = columns.map((column) => column.name).join();
      if (name === 'sqlite_sequence') db.exec('DELETE FROM main.sqlite_sequence');
      db.exec(`INSERT INTO main.${name} (${list}) SELECT ${list} FROM later.${name}`);
    }
    db.exec('DETACH later');
    db.close();
    return old;
  };

  const contentOf = async (ledger: Ledger, attempts: readonly string[]) => ({
    attempts: await ledger.attempts(null, 100),
    each: await Promise.all(
      attempts.map(async (attempt) => ({
        snapshot: await ledger.snapshot(attempt),
        records: await ledger.records(attempt, 0, 1000),
        some: await ledger.records(attempt, 3, 2),
        sketches: await ledger.sketches(attempt, 1000),
        unsettled: await ledger.unsettled(attempt),
      })),
    ),
  });

  it('is brought to this one with everything in it, and is gone on with', async () => {
    const file = join(folder, 'now.db');
    const kept = { requestDigest: 'body', idempotencyKey: 'key' };
    const [replied, pending, failed, refused] = [newCallId(), newCallId(), newCallId(), newCallId()];
    const parents: Record<string, string> = {};
    const before = await withLedger(file, async (ledger) => {
      // Calls of several attempts in turns, so that commit order and order of keys are not the same.
      for (let turn = 0; turn < 30; turn++) {
        for (const attempt of ['b', 'a', 'c']) {
          const history = Array.from({ length: 2 * turn + 2 }, (_, at) => `${attempt}${at}`);
          parents[attempt] = await addCall(ledger, attempt, history, { parent: parents[attempt] ?? null });
        }
      }
      await ledger.admit(admission('a', replied, { resend: kept }));
      await ledger.commit(record('a', replied, ['other', 'reply'], { replyJson: '{"kept":1}' }));
      for (const callId of [pending, failed, refused]) await ledger.admit(admission('b', callId));
      await ledger.addFailure('b', failed, 'worker_capture_failed');
      await ledger.settleRefused('b', refused, 'context_length_exceeded');
      await ledger.close('c');
      await ledger.retire(['d']);
      return contentOf(ledger, ['a', 'b', 'c']);
    });
    const old = asFirstVersion(file);

    await withLedger(old, async (ledger) => {
      assert.deepEqual(await contentOf(ledger, ['a', 'b', 'c']), before);
      assert.equal(await ledger.snapshot('d'), 'retired');
      const integrity = (await ledger.check()).find(({ name }) => name === 'ledger_integrity');
      assert.deepEqual(integrity, { name: 'ledger_integrity', ok: true, detail: 'quick_check: ok' });

      const history = Array.from({ length: 60 }, (_, at) => `b${at}`);
      const next = newCallId();
      const admitted = await ledger.admit(admission('b', next, { boundary: boundary(history) }));
      assert.equal(parentOf(admitted), parents.b);
      await ledger.commit(record('b', next, [...history, 'more', 'answer'], { parent: parents.b as string }));
      assert.equal((await ledger.records('b', 0, 1000)).length, 31);
      assert.equal(await ledger.commit(record('b', pending, ['late', 'answer'])), 'committed');
      assert.deepEqual(await ledger.admit(admission('a', newCallId(), { resend: kept })), {
        kind: 'joined',
        callId: replied,
      });
      assert.deepEqual(await ledger.replyOf('a', replied), { kind: 'finished', replyJson: '{"kept":1}' });
    });
    const db = new DatabaseSync(old, { readOnly: true });
    assert.deepEqual({ ...db.prepare('PRAGMA user_version').get() }, { user_version: MIGRATIONS.length });
    db.close();
  });
});
