import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  assembleGroup,
  computeAdvantages,
  DEFAULT_GROUP_OPTIONS,
  type GroupOptions,
  paddingCount,
  paddingRows,
  type RolloutOutcome,
  type Score,
  sequenceError,
} from '../../../src/trainer/index.ts';
import { buildWorld, callsOf, resultOf, runWorld } from '../../support/trainer-world.ts';

const options = (changes: Partial<GroupOptions> = {}): GroupOptions => ({ ...DEFAULT_GROUP_OPTIONS, ...changes });

/** A rollout of the group with this reward; `parents` decides how many rows it has. */
async function rollout(slot: number, reward: number, parents = '-', truncated = false): Promise<RolloutOutcome> {
  const calls = callsOf(parents).map((call, at) =>
    truncated && at === 0 ? { ...call, status: 'incomplete', finish: 'length' } : call,
  );
  const world = buildWorld(calls, `group_g${slot}`);
  return runWorld(world, {
    result: resultOf(
      world,
      calls.map((call) => call.id),
      { reward },
    ),
  });
}

async function maskedRollout(slot: number, reward: number): Promise<RolloutOutcome> {
  const world = buildWorld(callsOf('-'), `group_g${slot}`);
  world.staged.clear();
  return runWorld(world, { result: resultOf(world, ['1'], { reward }) });
}

const scores = (...rewards: number[]): Score[] =>
  rewards.map((reward) => ({ reward, valid: true, countsInBaseline: true }));
const advantages = (list: Score[], changes: Partial<GroupOptions> = {}) =>
  computeAdvantages(list, options(changes))!.map(({ advantage }) => advantage);

describe('advantages', () => {
  test('one per rollout, copied to its rows: the example of section 11', async () => {
    const outcomes = [await rollout(0, 0, '- -'), await rollout(1, 1)];
    const shown = (changes: Partial<GroupOptions>) =>
      assembleGroup('group', outcomes, options(changes)).rows.map((row) => [row.row_id, row.reward, row.advantage]);
    assert.deepEqual(shown({}), [
      ['group_g0_s0', 0, -0.5],
      ['group_g0_s1', 0, -0.5],
      ['group_g1_s0', 1, 0.5],
    ]);
    assert.deepEqual(
      shown({ baseline: 'leave_one_out' }).map(([, , advantage]) => advantage),
      [-1, -1, 1],
    );
  });

  test('normalization divides by the population deviation plus 1e-6, where it is above 0', () => {
    assert.deepEqual(advantages(scores(0, 1), { normalize: true }), [-0.5 / (0.5 + 1e-6), 0.5 / (0.5 + 1e-6)]);
    assert.deepEqual(advantages(scores(3, 3), { normalize: true }), [0, 0]);
    const deviation = Math.sqrt(14 / 3 - 4) + 1e-6;
    assert.deepEqual(
      advantages(scores(1, 2, 3), { normalize: true, baseline: 'leave_one_out' }).map((value) => value.toFixed(9)),
      [-1.5 / deviation, 0, 1.5 / deviation].map((value) => value.toFixed(9)),
    );
  });

  test('rewards that cannot be compared as doubles drop their group', async () => {
    for (const [rewards, changes] of [
      [[1e308, 1e308], {}],
      [[1.7e308, -1.7e308], { baseline: 'leave_one_out' }],
      [[1e200, -1e200], { normalize: true }],
    ] as const) {
      assert.equal(computeAdvantages(scores(...rewards), options(changes)), null);
    }
    const outcomes = [await rollout(0, 1e308), await rollout(1, 1e308)];
    const { verdict, rows } = assembleGroup('group', outcomes, options());
    assert.deepEqual(verdict, {
      kind: 'dropped',
      reasons: [
        { code: 'rewards_too_large', message: 'group group is dropped: its rewards are too large to be compared' },
      ],
      validFraction: 1,
    });
    assert.deepEqual(rows, []);
    assert.deepEqual(advantages(scores(1e200, -1e200)), [1e200, -1e200]);
  });

  test('clipping comes last', () => {
    assert.deepEqual(advantages(scores(0, 10), { clip: { low: -1, high: 2 } }), [-1, 2]);
    assert.deepEqual(advantages(scores(0, 10), { normalize: true, clip: { low: -0.5, high: 0.5 } }), [-0.5, 0.5]);
  });

  test('a rollout without others is its own baseline', () => {
    assert.deepEqual(computeAdvantages(scores(4), options({ baseline: 'leave_one_out' })), [
      { baseline: 4, advantage: 0 },
    ]);
    assert.deepEqual(computeAdvantages(scores(4), options()), [{ baseline: 4, advantage: 0 }]);
  });

  test('masked rollouts leave the baseline and have no advantage', () => {
    const masked: Score = { reward: 100, valid: false, countsInBaseline: false };
    const unknown: Score = { reward: null, valid: false, countsInBaseline: false };
    assert.deepEqual(computeAdvantages([...scores(0, 1), masked, unknown], options()), [
      { baseline: 0.5, advantage: -0.5 },
      { baseline: 0.5, advantage: 0.5 },
      { baseline: null, advantage: 0 },
      { baseline: null, advantage: 0 },
    ]);
    assert.deepEqual(advantages([masked, unknown]), [0, 0]);
  });
});

describe('masked and filtered rollouts', () => {
  test('a masked rollout has no rows; the others are weighed without it', async () => {
    const outcomes = [await rollout(0, 0), await maskedRollout(1, 9), await rollout(2, 1)];
    const { rows, judgements } = assembleGroup('group', outcomes, options());
    assert.deepEqual(
      rows.map((row) => [row.row_id, row.advantage]),
      [
        ['group_g0_s0', -0.5],
        ['group_g2_s0', 0.5],
      ],
    );
    assert.deepEqual(
      judgements.map(({ valid }) => valid),
      [true, false, true],
    );
  });

  test('truncated rollouts are marked, and masked only with overlong filtering', async () => {
    const outcomes = [await rollout(0, 0, '- 1', true), await rollout(1, 1), await rollout(2, 2)];
    const kept = assembleGroup('group', outcomes, options());
    assert.deepEqual(
      kept.rows.map((row) => [row.truncated, row.advantage]),
      [
        [true, -1],
        [false, 0],
        [false, 1],
      ],
    );
    const filtered = assembleGroup('group', outcomes, options({ overlongFiltering: true }));
    assert.deepEqual(
      filtered.rows.map((row) => [row.truncated, row.advantage, row.loss_mask.join('')]),
      [
        [true, 0, '000000'],
        [false, -0.5, '001'],
        [false, 0.5, '001'],
      ],
    );
    assert.deepEqual(
      filtered.judgements[0]?.reasons.map(({ code }) => code),
      ['overlong'],
    );
  });

  test('a group below the minimum valid fraction is dropped', async () => {
    const outcomes = [await rollout(0, 0), await maskedRollout(1, 0), await maskedRollout(2, 0)];
    const dropped = assembleGroup('group', outcomes, options({ minValidFraction: 0.34 }));
    assert.deepEqual(dropped.rows, []);
    assert.equal(dropped.verdict.kind, 'dropped');
    assert.deepEqual(
      dropped.verdict.kind === 'dropped' && dropped.verdict.reasons.map(({ code, message }) => [code, message]),
      [['group_below_valid_fraction', 'group group is dropped: 1 of 3 rollouts are valid, less than 0.34']],
    );
    assert.equal(assembleGroup('group', outcomes, options({ minValidFraction: 0.33 })).verdict.kind, 'kept');
  });
});

describe('pooled sequence error', () => {
  const e = Math.exp;

  test('the mean over generated tokens, each once, -inf left out', async () => {
    const outcome = await rollout(0, 1, '- 1 1');
    assert.equal(outcome.kind, 'rows');
    if (outcome.kind !== 'rows') return;
    // Two rows: call 1's token stands in both and counts in the first; context is never looked at.
    const trainer = new Map([
      ['group_g0_s0', [9, 9, -0.25, 9, 9, -1.25]],
      ['group_g0_s1', [9, 9, -99, 9, 9, 0.75]],
    ]);
    assert.equal(sequenceError(outcome.rows, trainer), (e(0) + e(1) + e(1)) / 3);
    trainer.set('group_g0_s1', [9, 9, -99, 9, 9, Number.NEGATIVE_INFINITY]);
    assert.equal(sequenceError(outcome.rows, trainer), (e(0) + e(1)) / 2);
    const none = new Map(outcome.rows.map((row) => [row.rowId, row.tokenIds.map(() => Number.NEGATIVE_INFINITY)]));
    assert.equal(sequenceError(outcome.rows, none), null);
    assert.throws(() => sequenceError(outcome.rows, new Map()), /no trainer log probabilities for row group_g0_s0/);
    assert.throws(
      () => sequenceError(outcome.rows, new Map([['group_g0_s0', [1]]])),
      /has 6 tokens and 1 trainer log probabilities/,
    );
  });

  test('above the threshold all rows lose their loss; the policy decides about the reward', async () => {
    const outcomes = [await rollout(0, 0), await rollout(1, 1), await rollout(2, 5)];
    const trainer = new Map([
      ['group_g0_s0', [0, 0, -0.25]],
      ['group_g1_s0', [0, 0, -0.25]],
      ['group_g2_s0', [0, 0, -1.25]],
    ]);
    const shown = (changes: Partial<GroupOptions>) =>
      assembleGroup('group', outcomes, options(changes), trainer).rows.map((row) => [
        row.reward,
        row.advantage,
        row.loss_mask.join(''),
      ]);
    assert.deepEqual(shown({ sequenceErrorThreshold: 2 }), [
      [0, -0.5, '001'],
      [1, 0.5, '001'],
      [5, 0, '000'],
    ]);
    assert.deepEqual(shown({ sequenceErrorThreshold: 2, maskedRewardPolicy: 'include' }), [
      [0, -2, '001'],
      [1, -1, '001'],
      [5, 0, '000'],
    ]);
    assert.deepEqual(shown({ sequenceErrorThreshold: Math.exp(1) })[2], [5, 3, '001']);
    assert.deepEqual(shown({})[2], [5, 3, '001']);
  });

  test('include does not bring back what is masked for another reason', async () => {
    const outcomes = [await rollout(0, 0), await rollout(1, 5, '-', true)];
    const trainer = new Map([
      ['group_g0_s0', [0, 0, -0.25]],
      ['group_g1_s0', [0, 0, -9]],
    ]);
    const changes = { sequenceErrorThreshold: 2, maskedRewardPolicy: 'include', overlongFiltering: true } as const;
    const { judgements } = assembleGroup('group', outcomes, options(changes), trainer);
    assert.deepEqual(
      judgements[1]?.reasons.map(({ code }) => code),
      ['overlong', 'sequence_error'],
    );
    assert.equal(judgements[1]?.countsInBaseline, false);
  });
});

describe('padding', () => {
  test('rows are appended up to the next multiple', () => {
    assert.deepEqual(
      [0, 1, 4, 13, 16].map((rows) => paddingCount(rows, 4)),
      [0, 3, 0, 3, 0],
    );
    assert.equal(paddingCount(13, 1), 0);
    assert.throws(() => paddingCount(3, 0), RangeError);
  });

  test('padding has no reward, no loss, advantage 0', () => {
    assert.deepEqual(paddingRows('group', 3, 4, 2), [
      {
        row_id: 'group_pad0',
        rollout: null,
        segment: null,
        model_call_ids: [],
        token_ids: [2],
        loss_mask: [0],
        logprobs: [0],
        weight_versions: [],
        reward: null,
        advantage: 0,
        truncated: false,
        padding: true,
      },
    ]);
  });

  test('six rollouts with thirteen rows make sixteen over four ranks; advantages count per rollout', async () => {
    const forests = ['- - -', '-', '- 1 1', '- -', '- -', '- 1 1 1'];
    const outcomes: RolloutOutcome[] = [];
    for (const [slot, parents] of forests.entries()) outcomes.push(await rollout(slot, slot, parents));
    const { rows } = assembleGroup('group', outcomes, options());
    const all = [...rows, ...paddingRows('group', rows.length, 4)];
    assert.deepEqual([rows.length, all.length], [13, 16]);
    assert.deepEqual(
      [...new Set(all.map((row) => `${row.rollout} ${row.reward} ${row.advantage}`))],
      [
        'group_g0 0 -2.5',
        'group_g1 1 -1.5',
        'group_g2 2 -0.5',
        'group_g3 3 0.5',
        'group_g4 4 1.5',
        'group_g5 5 2.5',
        'null null 0',
      ],
    );
  });
});
