import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { type AttemptSnapshot, type Ledger, LedgerUnavailable } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { MIGRATIONS } from '../../src/ledger/sqlite/schema.ts';
import { addCall, admission, newAttempt, newCallId, nowS, ROOT, record, until } from './ledger/builders.ts';
import { assertKept, runWriter, writeAndKill } from './ledger/killing.ts';

describe('a SQLite ledger and its file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gym-proxy-sqlite-'));
  });
  after(() => rm(folder, { recursive: true }));

  let files = 0;
  const newFile = () => join(folder, `ledger-${files++}.db`);
  const at = (file: string): Promise<Ledger> =>
    openLedger({
      url: `sqlite:${file}`,
      replica: newCallId(),
      now: nowS,
      replies: { keepBytes: 1_000_000, keepS: 900 },
      leaseS: 15,
      abandonedAfterS: null,
    });
  const withLedger = async <T>(file: string, use: (ledger: Ledger) => Promise<T>): Promise<T> => {
    const ledger = await at(file);
    await ledger.start();
    try {
      return await use(ledger);
    } finally {
      await ledger.stop();
    }
  };
  const rejectsStart = async (file: string, reason: RegExp) =>
    assert.rejects((await at(file)).start(), (error: Error) => {
      assert.ok(error instanceof LedgerUnavailable, String(error));
      assert.match(error.message, reason);
      assert.ok(error.message.includes(file), error.message);
      return true;
    });

  it('makes the folders on the way to it', async () => {
    const file = join(folder, 'some', 'new', 'folder', 'ledger.db');
    await withLedger(file, (ledger) => ledger.unsettled('x'));
    assert.ok((await stat(file)).size > 0);
  });

  it('has one owner at a time, whatever the path', async () => {
    const file = newFile();
    const link = newFile();
    await withLedger(file, async (ledger) => {
      await addCall(ledger, 'a', ['task', 'answer']);
      await symlink(file, link);
      await rejectsStart(file, /in use by another process; one process owns a SQLite ledger, use Redis for several/);
      await assert.rejects((await at(link)).start(), /in use by another process/);
      const other = spawnSync(process.execPath, [
        join(import.meta.dirname, 'ledger', 'child-writer.ts'),
        `sqlite:${file}`,
        'a',
        '1',
        '1',
      ]);
      assert.notEqual(other.status, 0);
      assert.match(String(other.stderr), /in use by another process/);
      assert.equal((await ledger.admit(admission('a', newCallId()))).kind, 'admitted');
    });
    await withLedger(link, async (ledger) => assert.equal((await ledger.records('a', 0, 10)).length, 1));
  });

  it('keeps what was answered when the process is killed, and shows the rest as pending for the next sweep', async () => {
    const file = newFile();
    const attempt = newAttempt();
    for (const commits of [1, 40]) {
      const name = `${attempt}-${commits}`;
      const killed = await writeAndKill(`sqlite:${file}`, name, 8, commits);
      await withLedger(file, async (ledger) => {
        await assertKept(ledger, name, killed);
        const pending = await ledger.unsettled(name);
        const report = await ledger.sweep();
        assert.equal(report.settledCalls, pending);
        assert.equal(report.deadReplicas.length, pending > 0 ? 1 : 0);
        assert.equal(await ledger.unsettled(name), 0);
        const integrity = (await ledger.check()).find(({ name: check }) => check === 'ledger_integrity');
        assert.deepEqual(integrity, { name: 'ledger_integrity', ok: true, detail: 'quick_check: ok' });
      });
    }
  });

  it('says what is wrong with a file that it cannot use', async () => {
    const text = newFile();
    await writeFile(text, 'this is no database, only some text that is long enough to look at\n'.repeat(20));
    await rejectsStart(text, /it is no SQLite database/);

    const later = newFile();
    const db = new DatabaseSync(later);
    db.exec('PRAGMA user_version = 4711');
    db.close();
    await rejectsStart(
      later,
      new RegExp(`written by a later version \\(schema 4711; this one knows ${MIGRATIONS.length}\\)`),
    );

    const isFolder = newFile();
    await mkdir(isFolder);
    await rejectsStart(isFolder, /cannot be opened or created/);

    const underFile = join(text, 'ledger.db');
    await rejectsStart(underFile, /cannot be used/);
  });

  it('says that a file is damaged, at start or by its check, and never answers from it', async () => {
    const file = newFile();
    await withLedger(file, async (ledger) => {
      for (let call = 0; call < 200; call += 1) await addCall(ledger, 'a', ['task', `answer ${call}`]);
    });
    const cut = newFile();
    await copyFile(file, cut);
    await truncate(cut, Math.floor((await stat(cut)).size / 8192) * 4096);
    const ledger = await at(cut);
    try {
      await ledger.start();
      const checks = await ledger.check();
      assert.equal(checks.find(({ name }) => name === 'ledger_integrity')?.ok, false);
      await assert.rejects(ledger.snapshot('a'), LedgerUnavailable);
    } catch (error) {
      assert.ok(error instanceof LedgerUnavailable, String(error));
      assert.match(error.message, /damaged/);
    } finally {
      await ledger.stop();
    }
  });

  for (const part of ['', '-wal']) {
    it(`takes nothing once ledger.db${part} was removed or replaced, and goes on when it is put back`, async () => {
      const file = newFile();
      const path = file + part;
      const isOutOfPlace = (error: Error) => {
        assert.ok(error instanceof LedgerUnavailable, String(error));
        assert.equal(
          error.message,
          `the ledger file cannot be used: ${path} was removed or replaced while it was in use; put it back, or restart with what is there`,
        );
        return true;
      };
      await withLedger(file, async (ledger) => {
        await addCall(ledger, 'a', ['task', 'answer']);
        await ledger.ready();
        await rename(path, `${path}.away`);
        for (const replacement of [false, true]) {
          if (replacement) await copyFile(`${path}.away`, path);
          await assert.rejects(ledger.admit(admission('a', newCallId())), isOutOfPlace);
          await assert.rejects(ledger.ready(), isOutOfPlace);
        }
        assert.equal((await ledger.records('a', 0, 10)).length, 1);
        await rename(`${path}.away`, path);
        await ledger.ready();
        assert.equal((await ledger.admit(admission('a', newCallId()))).kind, 'admitted');
      });
      await withLedger(file, async (ledger) => {
        const { recordCount, attemptedCallIds } = (await ledger.snapshot('a')) as AttemptSnapshot;
        assert.deepEqual([recordCount, attemptedCallIds.length], [1, 2]);
      });
    });
  }

  it('says that it is not ready while another program holds the lock that writing needs', async () => {
    const file = newFile();
    await withLedger(file, async (ledger) => {
      const other = new DatabaseSync(file);
      other.exec('BEGIN IMMEDIATE');
      await assert.rejects(
        ledger.ready(),
        /^LedgerUnavailable: the ledger file cannot be used: another program holds a lock on it/,
      );
      other.exec('COMMIT');
      other.close();
      await ledger.ready();
    });
  });

  it('answers LedgerUnavailable while nothing can be written, and goes on when it can', async () => {
    const file = newFile();
    // A limit on the size of files, in blocks of 512 bytes or more, does what a full disk does.
    const writer = { url: `sqlite:${file}`, attempt: 'a', callsAtOnce: 4, shell: 'ulimit -f 600' };
    const { signal, errors, ...told } = await runWriter(writer);
    assert.equal(signal, null);
    assert.match(
      errors,
      /LedgerUnavailable: the ledger file cannot be used: (reading or writing it failed|the disk is full)/,
    );
    assert.ok(told.committed.size > 0);
    await withLedger(file, async (ledger) => {
      await assertKept(ledger, 'a', told);
      await addCall(ledger, 'a', ['task', 'another']);
    });
  });

  it('waits for a lock that another program holds on the file', async () => {
    const file = newFile();
    await withLedger(file, async (ledger) => {
      const script = `const { DatabaseSync } = require('node:sqlite');
        const db = new DatabaseSync(${JSON.stringify(file)});
        db.exec('BEGIN IMMEDIATE');
        console.log('locked');
        process.stdin.once('data', () => { db.exec('COMMIT'); db.close(); process.exit(); });`;
      const other = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
      await once(other.stdout, 'data');
      const admitted = ledger.admit(admission('a', newCallId()));
      other.stdin.write('go on\n');
      assert.deepEqual(await admitted, ROOT);
      if (other.exitCode === null) await once(other, 'exit');
    });
  });

  it('a lock that stays fails all that write together, and nobody who reads', async () => {
    const file = newFile();
    await withLedger(file, async (ledger) => {
      const callId = await addCall(ledger, 'a', ['task', 'a']);
      const other = new DatabaseSync(file);
      other.exec('BEGIN IMMEDIATE');
      // One wait for the lock is five seconds: a second one would see it go.
      const unlock = setTimeout(() => other.exec('COMMIT'), 7_500);
      try {
        const answers = await Promise.allSettled([
          ledger.admit(admission('a', newCallId())),
          ledger.admit(admission('b', newCallId())),
          ledger.close('a'),
          ledger.snapshot('a'),
        ]);
        for (const answer of answers.slice(0, 3))
          assert.ok(answer.status === 'rejected' && answer.reason instanceof LedgerUnavailable);
        const snapshot = answers[3] as PromiseFulfilledResult<AttemptSnapshot>;
        assert.deepEqual([snapshot.value.attemptedCallIds, snapshot.value.state], [[callId], 'open']);
        assert.equal(other.isTransaction, true);
      } finally {
        clearTimeout(unlock);
        other.close();
      }
    });
  });

  it('does not let one failing operation fail those that arrived with it', async () => {
    await withLedger(newFile(), async (ledger) => {
      const [attempt, good, bad] = [newAttempt(), newCallId(), newCallId()];
      for (const callId of [good, bad]) await ledger.admit(admission(attempt, callId));
      // The file takes only whole numbers there: a defect of ours, as far as the ledger can tell.
      const broken = record(attempt, bad, ['task', 'b'], { index: { cumLen: 1.5 } });
      const answers = await Promise.allSettled([
        ledger.admit(admission(attempt, 'before')),
        ledger.commit(record(attempt, good, ['task', 'a'], { recordJson: '{"good":1}' })),
        ledger.commit(broken),
        ledger.admit(admission(attempt, 'behind')),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
      );
      assert.ok(answers[2]?.status === 'rejected' && !(answers[2].reason instanceof LedgerUnavailable));
      assert.deepEqual(await ledger.records(attempt, 0, 10), ['{"good":1}']);
      const snapshot = await ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual(snapshot.attemptedCallIds, [good, bad, 'before', 'behind']);
      assert.deepEqual(snapshot.pendingCallIds, [bad, 'before', 'behind']);
    });
  });

  it('undoes a claim that was rolled back', async () => {
    await withLedger(newFile(), async (ledger) => {
      const [attempt, callId, joiner] = [newAttempt(), newCallId(), newCallId()];
      const resend = { requestDigest: 'body', idempotencyKey: null };
      await ledger.admit(admission(attempt, callId, { resend }));
      await ledger.clientGone(attempt, callId);
      const broken = record(attempt, callId, ['task', 'b'], { index: { cumLen: 1.5 } });
      // All three run in one transaction, which is rolled back; then each alone.
      const answers = await Promise.allSettled([
        ledger.admit(admission(attempt, joiner, { resend })),
        ledger.clientGone(attempt, callId, joiner),
        ledger.commit(broken),
      ]);
      assert.deepEqual(answers[0], { status: 'fulfilled', value: { kind: 'joined', callId } });
      assert.deepEqual(await ledger.admit(admission(attempt, newCallId(), { resend })), { kind: 'joined', callId });
      assert.equal((await ledger.admit(admission(attempt, newCallId(), { resend }))).kind, 'admitted');
    });
  });

  it('clears the rows of retired and deleted attempts from the file', async () => {
    const file = newFile();
    await withLedger(file, async (ledger) => {
      for (const attempt of ['retired', 'deleted']) {
        for (let call = 0; call < 150; call += 1) await addCall(ledger, attempt, ['task', `answer ${call}`]);
        const failed = newCallId();
        await ledger.admit(admission(attempt, failed));
        await ledger.addFailure(attempt, failed, 'worker_capture_failed');
      }
      await ledger.retire(['retired']);
      await ledger.delete(['deleted']);
      // Clearing goes on by itself, in portions.
      const db = new DatabaseSync(file, { readOnly: true });
      const count = (table: string) => (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
      await until(async () => count('doomed') === 0);
      const tables = ['call', 'record', 'root', 'lookup', 'chunk', 'failure', 'reply'];
      assert.deepEqual(
        tables.map((table) => [table, count(table)]),
        tables.map((table) => [table, 0]),
      );
      assert.equal(count('attempt'), 1);
      db.close();
    });
  });

  it('goes on clearing after a restart', async () => {
    const file = newFile();
    await withLedger(file, async (ledger) => {
      for (let call = 0; call < 300; call += 1) await addCall(ledger, 'a', ['task', `answer ${call}`]);
      await ledger.delete(['a']);
    });
    await withLedger(file, async (ledger) => {
      const db = new DatabaseSync(file, { readOnly: true });
      const count = () => (db.prepare('SELECT count(*) AS n FROM record').get() as { n: number }).n;
      assert.ok(count() > 0, 'the first process has cleared it all');
      await ledger.sweep();
      await until(async () => count() === 0);
      db.close();
    });
  });

  it('can be copied while it is in use, with VACUUM INTO', async () => {
    const [file, copy] = [newFile(), newFile()];
    await withLedger(file, async (ledger) => {
      await addCall(ledger, 'a', ['task', 'answer'], { recordJson: '{"n":1}' });
      const db = new DatabaseSync(file, { readOnly: true });
      db.exec(`VACUUM INTO '${copy}'`);
      db.close();
      await addCall(ledger, 'a', ['task', 'more']);
    });
    await withLedger(copy, async (ledger) => assert.deepEqual(await ledger.records('a', 0, 10), ['{"n":1}']));
  });

  it('lives in memory if it is told to, and its checks say so', async () => {
    await withLedger(':memory:', async (ledger) => {
      await addCall(ledger, 'a', ['task', 'answer']);
      const journal = (await ledger.check()).find(({ name }) => name === 'ledger_journal');
      assert.deepEqual(journal, {
        name: 'ledger_journal',
        ok: false,
        detail: 'journal_mode memory: nothing survives this process',
      });
    });
  });

  it('reports a file that it may not write to', async () => {
    const file = newFile();
    await withLedger(file, (ledger) => addCall(ledger, 'a', ['task', 'answer']));
    await chmod(file, 0o444);
    await chmod(folder, 0o555);
    try {
      // Root may write anyway: then there is nothing to report.
      if (process.getuid?.() === 0) await withLedger(file, (ledger) => addCall(ledger, 'a', ['task', 'more']));
      else await rejectsStart(file, /cannot be (used|locked): (it is read-only|it cannot be opened or created)/);
    } finally {
      await chmod(folder, 0o755);
    }
  });
});
