import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, openSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type RunningReferenceWorker, startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { eventually, type LogLine, ServeFailed, type ServeProcess, startServe } from '../support/serve-process.ts';

/** A SQLite ledger whose file goes bad: 503 before inference, and a log line that says which file and what is wrong with it. */

const CHAT = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };

describe('a SQLite ledger', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gym-proxy-sqlite-'));
  const running: ServeProcess[] = [];
  let worker: RunningReferenceWorker;
  let files = 0;
  let file: string;
  before(async () => {
    worker = await startReferenceWorker();
  });
  beforeEach(() => {
    files += 1;
    file = join(folder, `ledger-${files}.db`);
  });
  after(async () => {
    for (const proxy of running) proxy.kill('SIGKILL');
    await worker.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function serve(under: readonly string[] = []): Promise<ServeProcess> {
    const config = { workers: worker.url, 'ledger.url': `sqlite:${file}`, 'ledger.commit_retry_s': '1' };
    const proxy = await startServe({ config, under });
    running.push(proxy);
    return proxy;
  }
  const ask = (proxy: ServeProcess, attempt = 'a') => proxy.post(`/ng-rollout/${attempt}/v1/chat/completions`, CHAT);
  /** What the log says of the ledger, once it says something: its lines come another way than replies. */
  const unavailable = async (proxy: ServeProcess) => {
    const lines = () => proxy.log.filter(({ msg }) => msg === 'ledger is not available');
    return (await eventually(lines, ({ length }) => length > 0)).map(errorOf).join('\n');
  };
  const errorOf = (line: LogLine) => (line.err as { message: string }).message;
  /** A limit on the size of files that the process writes does what a full disk does. */
  const limitFiles = (proxy: ServeProcess, bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(proxy.pid), `--fsize=${bytes}:unlimited`]);

  test('that has no room: 503 before inference and a log line; it goes on once there is room', async () => {
    const proxy = await serve();
    assert.equal((await ask(proxy)).status, 200);
    const inferences = worker.log().length;
    limitFiles(proxy, statSync(`${file}-wal`).size);
    const refused = await ask(proxy);
    assert.equal(refused.status, 503, refused.text);
    assert.equal(refused.json.error.code, 'ledger_unavailable');
    assert.equal(refused.headers.get('retry-after'), '2');
    assert.equal(worker.log().length, inferences);
    assert.match(
      await unavailable(proxy),
      /the ledger file .*cannot be used: (reading or writing it failed|the disk is full)/,
    );
    assert.equal((await fetch(`${proxy.url}/health/ready`)).status, 503);
    // What needs no room is still answered.
    assert.equal((await proxy.control('GET', '/ledger/a')).json.manifest.records.length, 1);

    limitFiles(proxy, 'unlimited');
    assert.equal((await fetch(`${proxy.url}/health/ready`)).status, 200);
    assert.equal((await ask(proxy)).status, 200);
    const { manifest } = (await proxy.control('GET', '/ledger/a')).json;
    assert.deepEqual([manifest.records.length, manifest.pending_call_ids], [2, []]);
  });

  test('that runs out of room during a call: the reply is held until the record is on disk', async () => {
    const proxy = await serve();
    worker.arm({ kind: 'hold' });
    const call = ask(proxy);
    await worker.whenHeld(1);
    limitFiles(proxy, statSync(`${file}-wal`).size);
    worker.release();
    await new Promise((resolve) => setTimeout(resolve, 300));
    limitFiles(proxy, 'unlimited');
    assert.equal((await call).status, 200);
    const { manifest } = (await proxy.control('GET', '/ledger/a')).json;
    assert.deepEqual([manifest.records.length, manifest.pending_call_ids, manifest.failures], [1, [], []]);
  });

  test('that has no room for too long: the agent is told, and the call stays pending', async () => {
    const proxy = await serve();
    worker.arm({ kind: 'hold' });
    const call = ask(proxy);
    await worker.whenHeld(1);
    limitFiles(proxy, statSync(`${file}-wal`).size);
    worker.release();
    const reply = await call;
    assert.deepEqual([reply.status, reply.json.error.code], [502, 'commit_failed']);
    const pending = await eventually(
      () => proxy.log.find(({ msg }) => msg === 'record could not be written in time: the call stays pending'),
      (line) => line !== undefined,
    );
    assert.match(errorOf(pending as LogLine), /cannot be used/);
    limitFiles(proxy, 'unlimited');
    const { manifest } = (await proxy.control('GET', '/ledger/a')).json;
    assert.deepEqual([manifest.records, manifest.pending_call_ids.length], [[], 1]);
  });

  test('that is damaged: 503 before inference and a log line that says so', async () => {
    const first = await serve();
    for (let call = 0; call < 3; call += 1) assert.equal((await ask(first)).status, 200);
    first.kill('SIGTERM');
    assert.equal(await first.exited, 0);
    spoilTable(file, 'lookup');
    const proxy = await serve();
    const inferences = worker.log().length;
    const followUp = [...CHAT.messages, { role: 'assistant', content: 'x' }, { role: 'user', content: 'on' }];
    const refused = await proxy.post('/ng-rollout/a/v1/chat/completions', { ...CHAT, messages: followUp });
    assert.equal(refused.status, 503, refused.text);
    assert.equal(worker.log().length, inferences);
    assert.match(await unavailable(proxy), /the ledger file .*cannot be used: it is damaged; restore it from a backup/);
  });

  test('that is removed while it is in use: 503 before inference, not ready, and it goes on once it is put back', async () => {
    const proxy = await serve();
    assert.equal((await ask(proxy)).status, 200);
    const inferences = worker.log().length;
    renameSync(file, `${file}.away`);
    const refused = await ask(proxy);
    assert.deepEqual([refused.status, refused.json.error.code], [503, 'ledger_unavailable']);
    const gone = `the ledger file cannot be used: ${file} was removed or replaced while it was in use; put it back, or restart with what is there`;
    assert.equal(await unavailable(proxy), gone);
    const ready = await fetch(`${proxy.url}/health/ready`);
    assert.deepEqual([ready.status, await ready.json()], [503, { status: 'unavailable', ledger: gone, workers: 'ok' }]);
    assert.equal(worker.log().length, inferences);

    renameSync(`${file}.away`, file);
    assert.equal((await ask(proxy)).status, 200);
    const { manifest } = (await proxy.control('GET', '/ledger/a')).json;
    assert.deepEqual([manifest.records.length, manifest.pending_call_ids], [2, []]);
  });

  for (const [what, spoil, message] of [
    [
      'no database',
      () => writeFileSync(file, 'some text that is long enough\n'.repeat(200)),
      /it is no SQLite database/,
    ],
    ['read-only', makeReadOnly, /it is read-only|it cannot be opened or created/],
  ] as const) {
    test(`that is ${what} from the start: the service does not start, and says in one line why`, async () => {
      const first = await serve();
      first.kill('SIGTERM');
      await first.exited;
      spoil();
      // Root may write to every file; without this right it may not.
      const under = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override'] : [];
      await assert.rejects(serve(under), (error: ServeFailed) => {
        assert.ok(error instanceof ServeFailed, String(error));
        assert.equal(error.code, 1);
        assert.match(error.output, message);
        assert.ok(error.output.startsWith(`gym-model-proxy: the ledger file ${file}`), error.output);
        assert.equal(error.output.trim().split('\n').length, 1);
        return true;
      });
      chmodSync(folder, 0o755);
    });
  }

  function makeReadOnly(): void {
    for (const path of [file, `${file}.lock`]) chmodSync(path, 0o444);
    chmodSync(folder, 0o555);
  }

  /** Overwrites the first page of a table. */
  function spoilTable(path: string, table: string): void {
    const db = new DatabaseSync(path);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const { rootpage } = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) as {
      rootpage: number;
    };
    const { page_size: size } = db.prepare('PRAGMA page_size').get() as { page_size: number };
    db.close();
    const opened = openSync(path, 'r+');
    writeSync(opened, Buffer.alloc(size, 0x5a), 0, size, (rootpage - 1) * size);
  }
});
