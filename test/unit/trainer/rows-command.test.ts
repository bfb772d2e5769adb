import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ROWS_EXIT } from '../../../src/trainer/rows-command.ts';
import type { RowsOptions } from '../../../src/trainer/rows-run/rows-options.ts';
import { RowsFolder, rowsIn } from '../../support/rows-folder.ts';
import { buildWorld, callsOf, resultOf } from '../../support/trainer-world.ts';
import { workedExample } from '../../support/worked-example.ts';

const folder = new RowsFolder();
before(() => {
  const { world, result } = workedExample();
  folder.save('we', world, result);
  folder.write('we.group.json', { rollouts: [{ slot: 1, reward: 0 }] });
});
after(() => folder.remove());

describe('the worked example', () => {
  const first =
    '{"row_id":"group_g0_s0","rollout":"group_g0","segment":0,"model_call_ids":["c1","c2"],"token_ids":[10,11,1001,20,21,1002],"loss_mask":[0,0,1,0,0,1],' +
    '"logprobs":[0,0,-0.25,0,0,-0.25],"weight_versions":[7,7],"reward":1,"advantage":0.5,"truncated":false,"padding":false}';

  test('rows as JSON lines on standard output', async () => {
    const { exit, out, warned } = await folder.run({ ...folder.files('we'), group: folder.path('we.group.json') });
    assert.equal(exit, ROWS_EXIT.ok);
    assert.equal(out.split('\n')[0], first);
    assert.deepEqual(
      rowsIn(out).map((row) => [row.row_id, row.model_call_ids, row.advantage]),
      [
        ['group_g0_s0', ['c1', 'c2'], 0.5],
        ['group_g0_s1', ['c3', 'c5'], 0.5],
      ],
    );
    assert.equal(warned, '');
  });

  test('without a group the rollout is its own baseline', async () => {
    assert.deepEqual(
      rowsIn((await folder.run(folder.files('we'))).out).map((row) => row.advantage),
      [0, 0],
    );
  });

  test('a file of rows stays as it was where the new rows come to nothing', async () => {
    const out = folder.write('kept.jsonl', 'the rows of before\n');
    const staged = folder.write('broken.jsonl', 'no JSON\n');
    const { exit } = await folder.run({ ...folder.files('we'), staged, out });
    assert.equal(exit, ROWS_EXIT.failed);
    assert.equal(readFileSync(out, 'utf8'), 'the rows of before\n');
    assert.deepEqual(
      readdirSync(dirname(out)).filter((name) => name.endsWith('.part')),
      [],
    );
  });

  test('rows never go over what they are made from', async () => {
    const files = folder.files('we');
    for (const out of [files.staged, files.ledger, files.result] as string[]) {
      const before = readFileSync(out, 'utf8');
      const { exit, warned } = await folder.run({ ...files, out });
      assert.deepEqual(
        [exit, warned],
        [ROWS_EXIT.usage, `--out ${out} is one of the files that the rows are made from\n`],
      );
      assert.equal(readFileSync(out, 'utf8'), before);
    }
  });

  test('rows to a file; standard output says where', async () => {
    const { exit, out } = await folder.run({
      ...folder.files('we'),
      group: folder.path('we.group.json'),
      out: folder.path('rows.jsonl'),
    });
    assert.equal(exit, ROWS_EXIT.ok);
    assert.equal(out, `2 rows and 0 of padding in ${folder.path('rows.jsonl')}\n`);
    assert.equal(readFileSync(folder.path('rows.jsonl'), 'utf8').split('\n')[0], first);
  });

  test('--explain draws forest, selection, rows with masks, and the group', async () => {
    const { exit, out, warned } = await folder.run({
      ...folder.files('we'),
      group: folder.path('we.group.json'),
      explain: true,
    });
    assert.equal(exit, ROWS_EXIT.ok);
    assert.equal(warned, '');
    assert.equal(
      out,
      `attempt group_g0: 5 records, 0 pending, 0 failures

call  prev  delta  cum  ended      selected
c1       0      3    3  completed  1.        root: first_call
c2       3      3    6  completed  2.        continues c1
c3       0      3    3  completed  3.        root: first_call
├─c4     3      3    6  completed  no        continues c3
└─c5     3      3    6  completed  4.        continues c3

selection (returned_history): c1 c2 c3 c5
  scored: c5, it ends the returned history
  authored items of the returned history: 0-1 c1, 2-3 c2, 4-5 c3, 6-7 c5

rows: 2, reward 1
  · context   ▒ generated, its loss is in an earlier row or filtered   █ generated, with loss
  group_g0_s0  c1 c2  6 tokens, 2 with loss, weights 7
    tokens  10 11 1001 20 21 1002
    mask     0  0    1  0  0    1
             ·  ·    █  ·  ·    █
  group_g0_s1  c3 c5  6 tokens, 2 with loss, weights 7
    tokens  30 31 1003 40 41 1005
    mask     0  0    1  0  0    1
             ·  ·    █  ·  ·    █

group group: 2 of 2 rollouts valid, baseline mean
  slot 0  group_g0       reward 1  baseline 0.5  advantage +0.5  group_g0_s0 group_g0_s1
  slot 1  (reward only)  reward 0  baseline 0.5  advantage -0.5

`,
    );
  });

  test('--json sums up for programs', async () => {
    const { exit, out } = await folder.run({ ...folder.files('we'), group: folder.path('we.group.json'), json: true });
    assert.equal(exit, ROWS_EXIT.ok);
    const summary = JSON.parse(out);
    assert.deepEqual([summary.rows, summary.padding, summary.reasons, summary.groups.length], [2, 0, {}, 1]);
    assert.deepEqual(summary.groups[0].rollouts[0], {
      slot: 0,
      rollout: 'group_g0',
      reward: 1,
      valid: true,
      advantage: 0.5,
      baseline: 0.5,
      truncated: false,
      sequence_error: null,
      selected: ['c1', 'c2', 'c3', 'c5'],
      row_ids: ['group_g0_s0', 'group_g0_s1'],
      reasons: [],
    });
  });

  test('ledger and tokens by address, the token only for the ledger', async () => {
    const { world } = workedExample();
    const asked: [url: string, authorization: string | null][] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      const url = String(input);
      asked.push([url, new Headers(init?.headers).get('authorization')]);
      if (url.endsWith('/ledger/group_g0')) return Promise.resolve(Response.json(world.ledger));
      const { keys } = JSON.parse(String(init?.body)) as { keys: string[] };
      return Promise.resolve(
        Response.json({ records: Object.fromEntries(keys.map((key) => [key, world.staged.get(key) ?? null])) }),
      );
    };
    const options = {
      ledger: 'http://proxy/ledger/group_g0',
      staged: 'http://worker',
      result: folder.path('we.result.json'),
      token: 'secret',
    };
    const { exit, out } = await folder.run(options, fetch);
    assert.equal(exit, ROWS_EXIT.ok);
    assert.equal(rowsIn(out).length, 2);
    assert.deepEqual(asked, [
      ['http://proxy/ledger/group_g0', 'Bearer secret'],
      ['http://worker/transfer-queue/get-batch', null],
    ]);
  });
});

describe('masked rollouts', () => {
  test('are told with their reasons and counts, and leave 3', async () => {
    const world = buildWorld(callsOf('- 1'), 'masked_g0');
    world.ledger.manifest.pending_call_ids.push('2');
    folder.save('masked', world, resultOf(world, ['1']));
    const plain = await folder.run(folder.files('masked'));
    assert.equal(plain.exit, ROWS_EXIT.masked);
    assert.equal(plain.out, '');
    assert.equal(
      plain.warned,
      'masked_g0: pending_calls: call 2 is pending: its worker may have written\n' +
        '1 × pending_calls: a call was sent to a worker and its outcome is not known: tokens may exist that no record names\n',
    );
    const explained = await folder.run({ ...folder.files('masked'), explain: true });
    assert.match(
      explained.out,
      /masked: no rows, and its reward leaves the baseline\n {2}pending_calls: call 2 is pending: its worker may have written\n/,
    );
    assert.match(explained.out, /slot 0 {2}masked_g0 {2}reward 1 {2}masked {2}pending_calls/);
    const summary = JSON.parse((await folder.run({ ...folder.files('masked'), json: true })).out);
    assert.deepEqual(summary.reasons, { pending_calls: 1 });
  });

  test('long call ids get short names, also in reasons', async () => {
    const ids = ['a', 'b'].map((letter) => letter.repeat(32)) as [string, string];
    const world = buildWorld([{ id: ids[0] }, { id: ids[1], parent: ids[0] }], 'named_g0');
    world.staged.delete(`named_g0/${ids[1]}`);
    folder.save('named', world, resultOf(world, ids));
    const { out } = await folder.run({ ...folder.files('named'), explain: true });
    assert.match(out, /^c2 +3 +3 +6 +completed +2\. +continues c1$/m);
    assert.match(out, new RegExp(`^c1 = ${ids[0]}$`, 'm'));
    assert.match(out, /staged_missing: call c2: TransferQueue holds nothing under named_g0\/c2/);
  });

  test('a ledger that is none, and a result that is none', async () => {
    folder.write('bad.ledger.json', '{"records":');
    folder.write('bad.result.json', '[]');
    const { exit, out } = await folder.run({
      ...folder.files('we'),
      ledger: folder.path('bad.ledger.json'),
      result: folder.path('bad.result.json'),
      json: true,
    });
    assert.equal(exit, ROWS_EXIT.masked);
    assert.deepEqual(JSON.parse(out).reasons, { ledger_malformed: 1, result_malformed: 1 });
  });
});

describe('options that cannot be used', () => {
  const refusals: [name: string, options: () => RowsOptions, why: RegExp][] = [
    ['nothing', () => ({}), /^give --ledger and --result, or --group, or both\n$/],
    ['no result', () => ({ ledger: 'x' }), /--ledger needs --result/],
    ['no ledger', () => ({ result: 'x' }), /--result needs --ledger/],
    ['no tokens', () => ({ ...folder.files('we'), staged: undefined }), /give --staged/],
    ['an unknown policy', () => ({ ...folder.files('we'), policy: 'best' }), /unknown policy best/],
    ['a policy that is not there', () => ({ ...folder.files('we'), policy: './nowhere.ts:f' }), /cannot be loaded/],
    ['a group file that is not there', () => ({ group: folder.path('nowhere.json') }), /nowhere\.json/],
    ['a group file that is no JSON', () => ({ group: folder.write('g.json', '{') }), /g\.json is no JSON/],
    [
      'a group file with an unknown option',
      () => ({ group: folder.write('g.json', { rollouts: [], options: { clipp: 1 } }) }),
      /g\.json is no group file/,
    ],
    [
      'own rollout and several groups',
      () => ({ ...folder.files('we'), group: folder.write('g.json', { groups: [{}, {}] }) }),
      /go with a group file of one group/,
    ],
  ];
  for (const [name, options, why] of refusals) {
    test(name, async () => {
      const { exit, out, warned } = await folder.run(options());
      assert.deepEqual([exit, out], [ROWS_EXIT.usage, '']);
      assert.match(warned, why);
    });
  }
});

describe('sources that cannot be read', () => {
  const failures: [name: string, options: () => RowsOptions, why: RegExp][] = [
    ['no such ledger', () => ({ ...folder.files('we'), ledger: folder.path('nowhere') }), /ENOENT.*nowhere/],
    ['no such result', () => ({ ...folder.files('we'), result: folder.path('nowhere') }), /ENOENT.*nowhere/],
    ['no such tokens', () => ({ ...folder.files('we'), staged: folder.path('nowhere') }), /ENOENT.*nowhere/],
    [
      'tokens that are none',
      () => ({ ...folder.files('we'), staged: folder.write('none.jsonl', '7') }),
      /line 1 has no staging_key/,
    ],
    [
      'a proxy that is not there',
      () => ({ ...folder.files('we'), ledger: 'http://127.0.0.1:1/ledger/x' }),
      /127\.0\.0\.1:1\/ledger\/x cannot be reached/,
    ],
    [
      'an output that cannot be written',
      () => ({ ...folder.files('we'), out: folder.path('nowhere/rows') }),
      /ENOENT.*nowhere/,
    ],
    [
      'trainer log probabilities of other rows',
      () => ({ group: folder.write('g.json', { rollouts: [{ ...folder.files('we'), trainer_logprobs: {} }] }) }),
      /no trainer log probabilities for row group_g0_s0/,
    ],
  ];
  for (const [name, options, why] of failures) {
    test(name, async () => {
      const { exit, warned } = await folder.run(options());
      assert.equal(exit, ROWS_EXIT.failed);
      assert.match(warned, why);
    });
  }
});
