import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { buildStagedRecord } from '../../../src/reference-worker/build-staged-record.ts';
import { TransferQueue } from '../../../src/reference-worker/transfer-queue.ts';

const record = (owner: string, call: string) =>
  buildStagedRecord({
    schemaVersion: 3,
    owner,
    modelCallId: call,
    parentCallId: null,
    parentChainHash: null,
    prevLen: 0,
    weightVersion: 7,
    tokens: [10, 11, 1001],
    delta: [10, 11, 1001],
    masks: [0, 0, 1],
    logprobs: [0, 0, -0.25],
    extras: null,
  });

describe('the queue', () => {
  test('stores once under a key', () => {
    const queue = new TransferQueue();
    const first = record('a', 'c1');
    assert.equal(queue.put(first), true);
    assert.equal(queue.put({ ...record('a', 'c1'), weight_version: 8 }), false);
    assert.equal(queue.get('a/c1'), first);
    assert.equal(queue.get('a/c2'), undefined);
  });

  test('a batch comes in the order of the keys and names what is missing', () => {
    const queue = new TransferQueue();
    for (const id of ['c1', 'c2']) queue.put(record('a', id));
    const { records, missing } = queue.batch(['a/c2', 'a/c9', 'a/c1']);
    assert.deepEqual(
      records.map((one) => one.model_call_id),
      ['c2', 'c1'],
    );
    assert.deepEqual(missing, ['a/c9']);
  });

  test('keys by prefix, and clearing', () => {
    const queue = new TransferQueue();
    for (const owner of ['a', 'b']) queue.put(record(owner, 'c1'));
    assert.deepEqual(queue.keys(), ['a/c1', 'b/c1']);
    assert.deepEqual(queue.keys('b/'), ['b/c1']);
    assert.deepEqual(queue.clear(['a/c1', 'a/c2']), { cleared: ['a/c1'], absent: ['a/c2'] });
    assert.deepEqual(queue.keys(), ['b/c1']);
  });
});

describe('the queue file', () => {
  function withFile(run: (path: string) => void): void {
    const folder = mkdtempSync(join(tmpdir(), 'queue-'));
    try {
      run(join(folder, 'queue.jsonl'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  function open<T>(path: string, use: (queue: TransferQueue) => T): T {
    const queue = new TransferQueue(path);
    try {
      return use(queue);
    } finally {
      queue.close();
    }
  }

  test('tokens and clearings outlive the process', () => {
    withFile((path) => {
      open(path, (queue) => {
        for (const id of ['c1', 'c2']) queue.put(record('a', id));
        queue.clear(['a/c1']);
        queue.close();
      });
      open(path, (queue) => {
        assert.deepEqual(queue.keys(), ['a/c2']);
        assert.deepEqual(queue.get('a/c2'), record('a', 'c2'));
      });
    });
  });

  test('a torn last line is cut off, and the next record stands on a line of its own', () => {
    withFile((path) => {
      open(path, (queue) => queue.put(record('ä', 'c1')));
      appendFileSync(path, '{"schema_version":3,"dig');
      open(path, (queue) => {
        assert.deepEqual(queue.keys(), ['ä/c1']);
        queue.put(record('a', 'c2'));
      });
      open(path, (queue) => assert.deepEqual(queue.keys(), ['ä/c1', 'a/c2']));
      assert.equal(readFileSync(path, 'utf8').split('\n').length, 3);
    });
  });

  test('any other line that is no record stops the start', () => {
    withFile((path) => {
      writeFileSync(path, '{"some":"thing"}\n');
      assert.throws(() => new TransferQueue(path), /line 1 is no staged record/);
    });
  });
});
