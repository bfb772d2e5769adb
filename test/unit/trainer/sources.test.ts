import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type RunningReferenceWorker, startReferenceWorker } from '../../../src/reference-worker/reference-worker.ts';
import {
  cleanupKeys,
  clearPublished,
  HttpFailure,
  HttpStagedStore,
  JsonlStagedStore,
  type LedgerView,
  MemoryStagedStore,
  parseStagedCall,
  readLedger,
  readLedgerFromStore,
  readLedgerView,
  type StagedStore,
} from '../../../src/trainer/index.ts';
import { toSchema2 } from '../../support/schema-2-world.ts';
import { buildWorld, callsOf, type World } from '../../support/trainer-world.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'trainer-sources-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function viewOf(world: World): LedgerView {
  const view = readLedgerView(world.ledger);
  assert.ok(view.ok, JSON.stringify(view));
  return view.value;
}

async function tokens(store: StagedStore, key: string): Promise<readonly number[] | string> {
  const found = await store.get(key);
  return found.kind === 'found' ? found.call.tokenIds : found.kind;
}

describe('ledgers', () => {
  test('from a file: the envelope, or a bare manifest', async () => {
    const world = buildWorld(callsOf('- 1'));
    const whole = await readLedger(file('ledger.json', JSON.stringify(world.ledger)));
    assert.deepEqual(
      whole.ok && [whole.value.attempt, whole.value.state, whole.value.records.length, whole.value.whyRoot['1']],
      ['group_g0', 'closed', 2, { cause: 'first_call' }],
    );
    const bare = await readLedger(file('manifest.json', JSON.stringify(world.ledger.manifest)));
    assert.deepEqual(bare.ok && [bare.value.attempt, bare.value.state, bare.value.attemptedCallIds], [
      'group_g0',
      'unknown',
      ['1', '2'],
    ]);
  });

  test('of schema 2, enveloped and bare, under both names of the owner', async () => {
    const world = toSchema2(buildWorld(callsOf('- 1')));
    assert.deepEqual(
      [viewOf(world).schemaVersion, viewOf(world).attemptedCallIds, viewOf(world).pendingCallIds],
      [2, ['1', '2'], []],
    );
    const bare = readLedgerView(world.ledger.manifest);
    assert.deepEqual(bare.ok && [bare.value.attempt, bare.value.attemptedCallIds, bare.value.pendingCallIds], [
      'group_g0',
      null,
      [],
    ]);
    const { rollout_id: owner, ...rest } = world.ledger.manifest;
    assert.ok(readLedgerView({ ...rest, capture_key: owner }).ok);
  });

  test('what is none says why', async () => {
    const shown = async (text: string) => {
      const read = await readLedger(file('bad.json', text));
      return read.ok ? 'read' : read.reasons.map(({ code, message }) => `${code}: ${message}`).join();
    };
    assert.match(await shown('{'), /^ledger_malformed: the ledger is no JSON/);
    assert.match(await shown('[]'), /it is no JSON object/);
    assert.match(await shown('{}'), /it has neither records nor a manifest/);
    assert.match(await shown('{"records":[]}'), /schema_version is missing, not 2 or 3/);
    await assert.rejects(readLedger(join(folder, 'nowhere.json')), { code: 'ENOENT' });
  });

  test('from a store, page by page', async () => {
    const world = buildWorld(callsOf(Array.from({ length: 1201 }, () => '-').join(' ')));
    const { records } = world.ledger.manifest;
    const pages: number[] = [];
    const store = {
      snapshot: () =>
        Promise.resolve({
          state: 'open' as const,
          recordCount: records.length,
          attemptedCallIds: records.map((record) => record.model_call_id),
          pendingCallIds: ['x'],
          failures: [{ callId: 'x', reason: 'worker_capture_failed' }],
          refused: [{ callId: 'y', code: 'worker_unreachable' }],
          whyRoot: [{ callId: '1', json: '{"cause":"first_call"}' }],
        }),
      records: (_: string, from: number, limit: number) => {
        pages.push(limit);
        return Promise.resolve(records.slice(from, from + limit).map((record) => JSON.stringify(record)));
      },
    };
    const read = await readLedgerFromStore(store, 'group_g0', 3);
    assert.ok(read.ok);
    assert.deepEqual(pages, [500, 500, 201]);
    const { attempt, state, pendingCallIds, failures, refusedCalls, whyRoot } = read.value;
    assert.deepEqual([attempt, state, read.value.records.length, pendingCallIds], ['group_g0', 'open', 1201, ['x']]);
    assert.deepEqual(failures, [{ schema_version: 3, model_call_id: 'x', reason: 'worker_capture_failed' }]);
    assert.deepEqual(
      [refusedCalls, whyRoot],
      [[{ model_call_id: 'y', code: 'worker_unreachable' }], { 1: { cause: 'first_call' } }],
    );

    const retired = await readLedgerFromStore(
      { ...store, snapshot: () => Promise.resolve('retired' as const) },
      'group_g0',
      3,
    );
    assert.deepEqual(!retired.ok && retired.reasons.map(({ code }) => code), ['ledger_malformed']);
  });
});

describe('staged records from JSON lines', () => {
  test('by key, in any order, whatever the spacing; the last line of a key counts', async () => {
    const world = buildWorld(callsOf('- 1 1'));
    const [a, b, c] = [...world.staged.values()];
    const older = { ...b, token_ids_delta: [0] };
    const lines = [
      JSON.stringify(older),
      '',
      JSON.stringify(c, null, ' ').replaceAll('\n', ' '),
      `${JSON.stringify(a)}\r`,
      JSON.stringify(b),
    ];
    const store = JsonlStagedStore.open(file('staged.jsonl', lines.join('\n')));
    assert.equal(store.size, 3);
    assert.deepEqual(await tokens(store, 'group_g0/1'), [10, 11, 1001]);
    assert.deepEqual(await tokens(store, 'group_g0/2'), [20, 21, 1002]);
    assert.equal(await tokens(store, 'group_g0/4'), 'missing');
    const batch = await store.getBatch(['group_g0/3', 'group_g0/4']);
    assert.deepEqual(
      [...batch].map(([key, { kind }]) => [key, kind]),
      [
        ['group_g0/3', 'found'],
        ['group_g0/4', 'missing'],
      ],
    );
    assert.equal(await store.clear(['group_g0/3', 'group_g0/4']), 1);
    assert.equal(await tokens(store, 'group_g0/3'), 'missing');
    store.close();
  });

  test('lines longer than a chunk, and many of them', async () => {
    const long = Array.from({ length: 400_000 }, (_, at) => at % 1000);
    const world = buildWorld([
      { id: 'a', prompt: long },
      { id: 'b', parent: 'a', extras: { note: '] } " \\ é' } },
      { id: 'c', prompt: long },
    ]);
    const store = JsonlStagedStore.open(
      file('long.jsonl', `${[...world.staged.values()].map((record) => JSON.stringify(record)).join('\n')}\n`),
    );
    assert.equal((await tokens(store, 'group_g0/a')).length, 400_001);
    assert.deepEqual(await tokens(store, 'group_g0/b'), [2, 3, 1001]);
    assert.equal((await tokens(store, 'group_g0/c')).length, 400_001);
    store.close();
  });

  test('a worker that goes on writing does not disturb what was indexed', async () => {
    const world = buildWorld(callsOf('- 1'));
    const [a, b] = [...world.staged.values()].map((record) => JSON.stringify(record));
    const path = file('growing.jsonl', `${a}\n`);
    const store = JsonlStagedStore.open(path);
    appendFileSync(path, `${b}\n`);
    assert.deepEqual(await tokens(store, 'group_g0/1'), [10, 11, 1001]);
    assert.equal(await tokens(store, 'group_g0/2'), 'missing');
    store.close();
  });

  test('cleared keys of a queue file are gone', () => {
    const world = buildWorld(callsOf('- -'));
    const [a, b] = [...world.staged.values()].map((record) => JSON.stringify(record));
    const store = JsonlStagedStore.open(file('cleared.jsonl', `${a}\n${b}\n{"cleared":["group_g0/1"]}\n`));
    assert.equal(store.size, 1);
    store.close();
  });

  test('a key is made of owner and call where the record does not spell it', () => {
    const store = JsonlStagedStore.open(file('unkeyed.jsonl', '{"rollout_id":"o","model_call_id":"c"}\n'));
    assert.equal(store.size, 1);
    store.close();
  });

  test('a line that is no record is named', () => {
    assert.throws(
      () => JsonlStagedStore.open(file('bad.jsonl', '{"staging_key":"a"}\n{"staging_key"\n')),
      /bad\.jsonl: line 2 is no JSON/,
    );
    assert.throws(
      () => JsonlStagedStore.open(file('bad.jsonl', '{"staging_key":"a"}\n7\n')),
      /line 2 has no staging_key/,
    );
    assert.throws(() => JsonlStagedStore.open(join(folder, 'nowhere.jsonl')), { code: 'ENOENT' });
  });
});

describe('reading one staged record', () => {
  const record = JSON.stringify(
    [...buildWorld([{ id: 'a', extras: { deep: { token_ids_delta: [1, [2]] }, n: 1.0 } }]).staged.values()][0],
  );
  const why = (text: string) => {
    const read = parseStagedCall(Buffer.from(text));
    return read.kind === 'malformed' ? read.why : read.kind;
  };

  test('is lossless in extras and blind to the order and the spelling of names', () => {
    const text = record
      .replace('"n":1}', '"n":1.0, "big": 9007199254740993}')
      .replace('"token_ids_delta":[0', '"token\\u005fids_delta":[0');
    const read = parseStagedCall(Buffer.from(text));
    assert.equal(read.kind, 'found');
    assert.deepEqual(read.kind === 'found' && [read.call.extras?.rawText(), read.call.tokenIds], [
      '{"deep":{"token_ids_delta":[1,[2]]},"n":1.0, "big": 9007199254740993}',
      [0, 1, 1000],
    ]);
  });

  test('broken texts are malformed, never an exception', () => {
    for (const text of [
      '',
      '{',
      '7',
      '[]',
      record.slice(0, -1),
      record.slice(0, 200),
      record.replace('[0,0,1]', '[0,0,1'),
      record.replace('[0,0,1]', '[0,,1]'),
      record.replace('[0,0,1]', '[[0],0,1]'),
      record.replace('[0,0,1]', '{"a":1}'),
      `${record}x`,
    ]) {
      assert.notEqual(why(text), 'found', text);
    }
    assert.match(why(record.replace('[0,0,1]', '[0,"0",1]')), /token_mask_delta holds something other than numbers/);
    assert.match(
      why(record.replace('[0,1,1000]', '[0,1,1e400]')),
      /token_ids_delta holds something other than integers/,
    );
  });
});

describe('the reference worker over HTTP', () => {
  const world = buildWorld(callsOf('- 1 1'));
  let worker: RunningReferenceWorker;
  before(async () => {
    const lines = [...world.staged.values()].map((record) => `${JSON.stringify(record)}\n`);
    worker = await startReferenceWorker({ queueFile: file('queue.jsonl', lines.join('')) });
  });
  after(() => worker.close());

  test('get, batch and clear', async () => {
    for (const url of [worker.url, `${worker.url}/`, `${worker.url}/v1`]) {
      const store = new HttpStagedStore(url);
      assert.deepEqual(await tokens(store, 'group_g0/2'), [20, 21, 1002]);
      const batch = await store.getBatch(['group_g0/3', 'nobody/1', 'group_g0/1']);
      assert.deepEqual(
        [...batch].map(([key, { kind }]) => [key, kind]),
        [
          ['group_g0/3', 'found'],
          ['nobody/1', 'missing'],
          ['group_g0/1', 'found'],
        ],
      );
    }
    const store = new HttpStagedStore(worker.url);
    assert.equal(await clearPublished(store, viewOf(world)), 3);
    assert.equal(await clearPublished(store, viewOf(world)), 0);
    assert.equal(await tokens(store, 'group_g0/1'), 'missing');
  });

  test('a worker that cannot be asked is an error with its address', async () => {
    await assert.rejects(new HttpStagedStore('http://127.0.0.1:1').get('a/b'), (error: unknown) => {
      return (
        error instanceof HttpFailure &&
        error.status === null &&
        /127\.0\.0\.1:1\/transfer-queue\/get-batch cannot be reached/.test(error.message)
      );
    });
    await assert.rejects(new HttpStagedStore(`${worker.url}/elsewhere`).get('a/b'), /answered 404/);
  });

  test('answers by key are read as well, and anything else is refused', async () => {
    const [staged] = [...buildWorld(callsOf('-')).staged.values()];
    const answering = (body: unknown) =>
      new HttpStagedStore('http://worker', { fetch: () => Promise.resolve(new Response(JSON.stringify(body))) });
    const store = answering({ records: { 'group_g0/1': staged, 'group_g0/2': null } });
    assert.deepEqual(
      [...(await store.getBatch(['group_g0/1', 'group_g0/2', 'group_g0/3']))].map(([, { kind }]) => kind),
      ['found', 'missing', 'missing'],
    );
    for (const body of [{}, { records: 7 }, { records: [staged] }, { records: [], missing: [] }]) {
      await assert.rejects(answering(body).getBatch(['a/1', 'a/2']), /did not answer with one record or none per key/);
    }
  });
});

describe('cleanup after publication', () => {
  test('all committed calls of the attempt, selected or not; pending ones are left alone', async () => {
    const world = buildWorld(callsOf('- 1 1'));
    world.ledger.manifest.pending_call_ids.push('3', '9');
    (world.ledger.manifest.records[1] as { staging_key: string }).staging_key = 'group_g1/2';
    assert.deepEqual(cleanupKeys(viewOf(world)), { keys: ['group_g0/1'], excluded: ['3', '9'] });
    const store = new MemoryStagedStore();
    for (const [key, record] of world.staged) store.put(key, JSON.stringify(record));
    assert.equal(await clearPublished(store, viewOf(world)), 1);
    assert.deepEqual(await tokens(store, 'group_g0/3'), [30, 31, 1003]);
  });
});
