import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type Demo, runDemo, startDemo } from '../../src/demo/run-demo.ts';

/** The worked example of protocol section 12 over HTTP, as the demo runs it: agent → proxy → worker → TransferQueue stand-in → ledger → rows. */

interface VectorRow {
  readonly parent_call_id: string | null;
  readonly chain_hash: string;
  readonly cumulative_hash: string;
  readonly token_ids_delta: readonly number[];
}

describe('the demo', () => {
  let demo: Demo;
  let exitCode: number;
  let printed = '';
  before(async () => {
    demo = await startDemo();
    exitCode = await runDemo(demo, (text) => {
      printed += text;
    });
  });
  after(() => demo.close());

  test('ends well and prints forest, verdict, selection, rows and advantages', () => {
    assert.equal(exitCode, 0);
    for (const line of [
      '   c1    root      root       0      3    3',
      '   c2    c1        c1         3      3    6',
      '   c3    root      root       0      3    3',
      '   c4    c3        c3         3      3    6',
      '   c5    c3        c3         3      3    6',
      '   5 records, 0 pending, 0 failures',
      'selection (returned_history): c1 c2 c3 c5',
      '  group_g0_s0  c1 c2  6 tokens, 2 with loss, weights 7',
      '    tokens  10 11 1001 20 21 1002',
      '  group_g0_s1  c3 c5  6 tokens, 2 with loss, weights 7',
      '    tokens  30 31 1003 40 41 1005',
      '    mask     0  0    1  0  0    1',
      '  slot 0  group_g0       reward 1  baseline 0.5  advantage +0.5  group_g0_s0 group_g0_s1',
    ]) {
      assert.ok(printed.split('\n').includes(line), `missing: ${line}\n${printed}`);
    }
  });

  test('chain and cumulative hashes are those of the vectors, though the call ids are made', async () => {
    const path = new URL('../vectors/vectors.json', import.meta.url);
    const { rows } = (JSON.parse(readFileSync(path, 'utf8')) as { worked_example: { rows: VectorRow[] } })
      .worked_example;
    const reply = await fetch(`${demo.proxy.controlUrl}/ledger/group_g0`, {
      headers: { authorization: `Bearer ${demo.controlToken}` },
    });
    const { manifest } = (await reply.json()) as {
      manifest: { records: { chain_hash: string; cumulative_hash: string; staging_key: string }[] };
    };
    assert.deepEqual(
      manifest.records.map(({ chain_hash, cumulative_hash }) => ({ chain_hash, cumulative_hash })),
      rows.map(({ chain_hash, cumulative_hash }) => ({ chain_hash, cumulative_hash })),
    );
    assert.deepEqual(
      manifest.records.map(({ staging_key }) => demo.worker.stagedRecord(staging_key)?.token_ids_delta),
      rows.map(({ token_ids_delta }) => token_ids_delta),
    );
  });
});
