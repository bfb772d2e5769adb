import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assembleGroup, DEFAULT_GROUP_OPTIONS, type RolloutOutcome } from '../../../src/trainer/index.ts';
import { selected } from '../../support/trainer-world.ts';
import { workedExample } from '../../support/worked-example.ts';

test('section 12: selection c1 c2 c3 c5, two rows with their exact tokens and masks', async () => {
  const outcome = await workedExample().run();
  assert.deepEqual(selected(outcome), ['c1', 'c2', 'c3', 'c5']);
  assert.equal(outcome.kind, 'rows');
  assert.deepEqual(
    outcome.kind === 'rows'
      ? outcome.rows.map(({ rowId, tokenIds, lossMask, logprobs }) => [rowId, tokenIds, lossMask, logprobs])
      : [],
    [
      ['group_g0_s0', [10, 11, 1001, 20, 21, 1002], [0, 0, 1, 0, 0, 1], [0, 0, -0.25, 0, 0, -0.25]],
      ['group_g0_s1', [30, 31, 1003, 40, 41, 1005], [0, 0, 1, 0, 0, 1], [0, 0, -0.25, 0, 0, -0.25]],
    ],
  );
});

test('section 12: with a sibling at reward 0 both rows get advantage +0.5', async () => {
  const outcome = await workedExample().run();
  const sibling = { ...outcome, attempt: 'group_g1', reward: 0 } as RolloutOutcome;
  const { rows } = assembleGroup('group', [outcome, sibling], DEFAULT_GROUP_OPTIONS);
  assert.deepEqual(
    rows.map((row) => [row.rollout, row.reward, row.advantage, row.model_call_ids, row.weight_versions]),
    [
      ['group_g0', 1, 0.5, ['c1', 'c2'], [7, 7]],
      ['group_g0', 1, 0.5, ['c3', 'c5'], [7, 7]],
      ['group_g0', 0, -0.5, ['c1', 'c2'], [7, 7]],
      ['group_g0', 0, -0.5, ['c3', 'c5'], [7, 7]],
    ],
  );
});
