import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ROWS_EXIT } from '../../../src/trainer/rows-command.ts';
import { RowsFolder, rowsIn } from '../../support/rows-folder.ts';
import { buildWorld, callsOf, resultOf } from '../../support/trainer-world.ts';

const folder = new RowsFolder();
after(() => folder.remove());

describe('groups', () => {
  before(() => {
    const forests = ['- - -', '-', '- 1 1', '- -', '- -', '- 1 1 1'];
    for (const [at, parents] of forests.entries()) {
      const calls = callsOf(parents);
      const group = at < 3 ? 'x' : 'y';
      const world = buildWorld(calls, `${group}_g${at % 3}`);
      folder.save(
        `six${at}`,
        world,
        resultOf(
          world,
          calls.map((call) => call.id),
          { reward: at % 3 },
        ),
      );
    }
  });

  test('what would give row ids or tokens twice is refused, and says what to change', async () => {
    const refused = async (groups: object[]) => {
      const { exit, out, warned } = await folder.run({ group: folder.write('twice.json', { groups }) });
      assert.deepEqual([exit, out], [ROWS_EXIT.usage, '']);
      return warned;
    };
    const [first, second] = [folder.member('six0'), folder.member('six1')];
    assert.equal(
      await refused([
        {
          rollouts: [
            { ...first, slot: 3 },
            { ...second, slot: 3 },
          ],
        },
      ]),
      'two rollouts of group x have slot 3, so their rows would have the same ids: give each its own "slot"\n',
    );
    assert.equal(
      await refused([{ rollouts: [first, { slot: 0, reward: 1 }] }]),
      'two rollouts of group x have slot 0, so their rows would have the same ids: give each its own "slot"\n',
    );
    assert.equal(await refused([{ rollouts: [first, { ...first, slot: 5 }] }]), 'attempt x_g0 stands there twice\n');
    const twoGroups = await folder.run({
      group: folder.write('same.json', { groups: [{ rollouts: [first] }, { group: 'x', rollouts: [second] }] }),
    });
    assert.deepEqual([twoGroups.exit, twoGroups.warned], [ROWS_EXIT.usage, 'group x stands there twice\n']);
  });

  test('a ledger that cannot be read masks its own rollout and changes no other one', async () => {
    const unreadable = { ...folder.member('six2'), ledger: folder.write('half.json', '{"half":') };
    const [first, second] = [folder.member('six0'), folder.member('six1')];
    const alone = rowsIn((await folder.run({ group: folder.write('alone.json', { rollouts: [first, second] }) })).out);
    for (const rollouts of [
      [unreadable, first, second],
      [first, unreadable, second],
      [first, second, unreadable],
    ]) {
      const { exit, out, warned } = await folder.run({ group: folder.write('half.group.json', { rollouts }) });
      assert.equal(exit, ROWS_EXIT.masked);
      assert.deepEqual(
        rowsIn(out).map((row) => [row.row_id, row.advantage]),
        alone.map((row) => [row.row_id, row.advantage]),
      );
      assert.match(warned, /1 × ledger_malformed/);
    }
  });

  test('options that cannot be applied are refused', async () => {
    const refused = async (options: object) => {
      const { exit, warned } = await folder.run({
        group: folder.write('options.json', { rollouts: [folder.member('six0')], options }),
      });
      assert.equal(exit, ROWS_EXIT.usage);
      return warned;
    };
    assert.equal(
      await refused({ sequence_error_threshold: 2 }),
      'sequence_error_threshold needs trainer_logprobs of every rollout\n',
    );
    assert.match(await refused({ clip: [2, 1] }), /options\.clip/);
  });

  test('six rollouts of two groups: thirteen rows, padded to sixteen over four ranks', async () => {
    const groups = [
      [0, 1, 2],
      [3, 4, 5],
    ].map((members) => ({ rollouts: members.map((at) => folder.member(`six${at}`)) }));
    const { exit, out } = await folder.run({
      group: folder.write('six.json', { groups, pad_to_multiple: 4, pad_token_id: 5 }),
    });
    assert.equal(exit, ROWS_EXIT.ok);
    const rows = rowsIn(out);
    assert.deepEqual(
      rows.map((row) => row.row_id),
      [
        'x_g0_s0',
        'x_g0_s1',
        'x_g0_s2',
        'x_g1_s0',
        'x_g2_s0',
        'x_g2_s1',
        'y_g0_s0',
        'y_g0_s1',
        'y_g1_s0',
        'y_g1_s1',
        'y_g2_s0',
        'y_g2_s1',
        'y_g2_s2',
        'y_pad0',
        'y_pad1',
        'y_pad2',
      ],
    );
    assert.deepEqual(
      rows.map((row) => row.advantage),
      [-1, -1, -1, 0, 1, 1, -1, -1, 0, 0, 1, 1, 1, 0, 0, 0],
    );
    assert.deepEqual(
      rows.slice(12).map((row) => [row.padding, row.token_ids.length]),
      [
        [false, 6],
        [true, 1],
        [true, 1],
        [true, 1],
      ],
    );
  });

  test('options of the file: baseline, normalization, clip, filters, minimum fraction', async () => {
    const shown = async (options: object) => {
      const group = { options, rollouts: [0, 1, 2].map((at) => folder.member(`six${at}`)) };
      const { exit, out } = await folder.run({ group: folder.write('options.json', group) });
      return [exit, ...new Set(out === '' ? [] : rowsIn(out).map((row) => row.advantage))];
    };
    assert.deepEqual(await shown({ baseline: 'leave_one_out' }), [0, -1.5, 0, 1.5]);
    assert.deepEqual(await shown({ clip: 0.25 }), [0, -0.25, 0, 0.25]);
    assert.deepEqual(await shown({ clip: [-2, 0.5] }), [0, -1, 0, 0.5]);
    assert.deepEqual(await shown({ normalize: true }), [
      0,
      -1 / (Math.sqrt(2 / 3) + 1e-6),
      0,
      1 / (Math.sqrt(2 / 3) + 1e-6),
    ]);
    assert.deepEqual(await shown({ min_valid_fraction: 1 }), [0, -1, 0, 1]);
  });

  test('a dropped group has no rows and says why', async () => {
    const group = {
      group: 'mine',
      options: { min_valid_fraction: 0.5 },
      rollouts: [folder.member('six1'), { reward: null }, { reward: 1, masked: true }],
    };
    const { exit, out, warned } = await folder.run({ group: folder.write('dropped.json', group) });
    assert.deepEqual([exit, out], [ROWS_EXIT.masked, '']);
    assert.match(warned, /1 × group_below_valid_fraction/);
  });

  test('a named group names its rows; slots are those of the file, of the attempt, or the place', async () => {
    const group = {
      group: 'x',
      rollouts: [{ ...folder.member('six2'), slot: 9 }, folder.member('six1'), folder.member('six3')],
    };
    const { out } = await folder.run({ group: folder.write('slots.json', group) });
    assert.deepEqual(
      rowsIn(out).map((row) => row.row_id),
      ['x_g9_s0', 'x_g9_s1', 'x_g1_s0', 'x_g2_s0', 'x_g2_s1'],
    );
  });

  test('results may stand in the file, with numbers as they are written', async () => {
    const call = { type: 'message', role: 'assistant', content: [{ type: 'chart', points: 1 }] };
    const world = buildWorld([{ id: 'a', output: [call] }], 'inline_g0');
    folder.save('inline', world, {});
    const group = (points: string) =>
      `{"rollouts":[{"ledger":"inline.ledger.json","staged":"inline.staged.jsonl","result":{"reward":1,"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"chart","points":${points}}]}]}}}]}`;
    assert.equal((await folder.run({ group: folder.write('inline.json', group('1')) })).exit, ROWS_EXIT.ok);
    assert.equal((await folder.run({ group: folder.write('inline.json', group('1.0')) })).exit, ROWS_EXIT.masked);
  });

  test('trainer log probabilities, in the file or beside it; null is minus infinity', async () => {
    const options = { sequence_error_threshold: 2 };
    const one = (trainer_logprobs: unknown) => ({
      options,
      rollouts: [
        { ...folder.member('six1'), trainer_logprobs },
        { slot: 2, reward: 3 },
      ],
    });
    const masks = async (own: unknown) => {
      const { exit, out } = await folder.run({ group: folder.write('errors.json', one(own)) });
      return [exit, rowsIn(out).map((row) => [row.loss_mask, row.advantage])];
    };
    assert.deepEqual(await masks({ x_g1_s0: [0, 0, -0.25] }), [ROWS_EXIT.ok, [[[0, 0, 1], -1]]]);
    assert.deepEqual(await masks({ x_g1_s0: [0, 0, -5] }), [ROWS_EXIT.masked, [[[0, 0, 0], 0]]]);
    assert.deepEqual(await masks({ x_g1_s0: [0, 0, null] }), [ROWS_EXIT.ok, [[[0, 0, 1], -1]]]);
    folder.write('own.json', { x_g1_s0: [0, 0, -5] });
    assert.deepEqual(await masks('own.json'), [ROWS_EXIT.masked, [[[0, 0, 0], 0]]]);
    const { exit, out } = await folder.run({
      group: folder.write('errors.json', one({ x_g1_s0: [0, 0, -5] })),
      explain: true,
    });
    assert.equal(exit, ROWS_EXIT.masked);
    assert.match(
      out,
      /filtered: its rows carry no loss\n {2}sequence_error: the pooled sequence error 115\.58\d* is above 2/,
    );
    assert.match(out, /mask {5}0 {2}0 {4}0\n {13}· {2}· {4}▒/);
  });
});
