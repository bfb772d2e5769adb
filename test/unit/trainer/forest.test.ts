import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allCaptured, type RolloutOutcome } from '../../../src/trainer/index.ts';
import { answer, buildWorld, callsOf, codes, resultOf, runWorld } from '../../support/trainer-world.ts';

function rowsOf(outcome: RolloutOutcome) {
  assert.equal(outcome.kind, 'rows', JSON.stringify(codes(outcome)));
  return outcome.kind === 'rows' ? outcome.rows : [];
}

const chain = (length: number, rootAt: number[] = [1]) =>
  Array.from({ length }, (_, at) => (rootAt.includes(at + 1) ? '-' : String(at))).join(' ');

test('every forest of section 11 gives its number of rows', async () => {
  const table: [parents: string, rows: number][] = [
    [chain(20), 1],
    [chain(20, [1, 11]), 2],
    ['- 1 1', 2],
    ['- - 1 2', 2],
    ['- - 1 - 2 4', 3],
    ['- - - 2 3 1', 3],
    ['- - 1 - 4 - 5 6', 4],
    ['- 1 1 2 2 3', 3],
  ];
  for (const [parents, rows] of table) {
    assert.equal(rowsOf(await runWorld(buildWorld(callsOf(parents)))).length, rows, parents);
  }
});

test('a fork: the exact tokens, and loss of the shared call only in the first row', async () => {
  const rows = rowsOf(await runWorld(buildWorld(callsOf('- 1 1'))));
  assert.deepEqual(
    rows.map(({ tokenIds, lossMask }) => [tokenIds.join(','), lossMask.join('')]),
    [
      ['10,11,1001,20,21,1002', '001001'],
      ['10,11,1001,30,31,1003', '000001'],
    ],
  );
});

test('rows are sorted by the place of the root, then of the endpoint; segments count up', async () => {
  const rows = rowsOf(await runWorld(buildWorld(callsOf('- - 1 - 2 4'))));
  assert.deepEqual(
    rows.map(({ rowId, spans }) => [rowId, spans.map(({ callId }) => callId).join(' ')]),
    [
      ['group_g0_s0', '1 3'],
      ['group_g0_s1', '2 5'],
      ['group_g0_s2', '4 6'],
    ],
  );
});

test('the order is that of the returned history, not of the ledger', async () => {
  const world = buildWorld(callsOf('- - 1 2'));
  const rows = rowsOf(await runWorld(world, { result: resultOf(world, ['2', '1', '4', '3']) }));
  assert.deepEqual(
    rows.map(({ spans }) => spans.map(({ callId }) => callId).join(' ')),
    ['2 4', '1 3'],
  );
});

test('a parent that is not selected masks the whole rollout', async () => {
  const world = buildWorld(callsOf('- 1 - 2'));
  const outcome = await runWorld(world, { result: resultOf(world, ['1', '3', '4']) });
  assert.deepEqual(codes(outcome), ['selection_not_closed']);
  assert.match(
    outcome.kind === 'masked' ? (outcome.reasons[0]?.message ?? '') : '',
    /call 4 continues call 2, which is not selected/,
  );
});

test('what hangs on a call with an unselected parent is not blamed again', async () => {
  const world = buildWorld(callsOf('- 1 2 3'));
  const outcome = await runWorld(world, { result: resultOf(world, ['1', '3', '4']) });
  assert.deepEqual(outcome.kind === 'masked' ? outcome.reasons.map(({ code, callId }) => [code, callId]) : [], [
    ['selection_not_closed', '3'],
  ]);
});

test('a twin of the parent stands in for it: same tokens, its own loss', async () => {
  const world = buildWorld([
    { id: 'a', prompt: [1], generated: [5] },
    { id: 'b', prompt: [1], generated: [5] },
    { id: 'c', parent: 'a', prompt: [2], generated: [6] },
  ]);
  const rows = rowsOf(await runWorld(world, { result: resultOf(world, ['b', 'c']) }));
  assert.deepEqual(
    rows.map(({ tokenIds, lossMask, spans }) => [tokenIds, lossMask, spans.map(({ callId }) => callId)]),
    [
      [
        [1, 5, 2, 6],
        [0, 1, 0, 1],
        ['b', 'c'],
      ],
    ],
  );
});

test('a twin made of other pieces stands in as well: the stored chain hash is that of the stored parent', async () => {
  const world = buildWorld([
    { id: 'root', prompt: [1], generated: [5] },
    { id: 'pieces', parent: 'root', prompt: [2], generated: [6] },
    { id: 'whole', prompt: [1, 5, 2], generated: [6] },
    { id: 'child', parent: 'pieces', prompt: [3], generated: [7] },
  ]);
  const rows = rowsOf(await runWorld(world, { result: resultOf(world, ['whole', 'child']) }));
  assert.deepEqual(
    rows.map(({ tokenIds, lossMask }) => [tokenIds, lossMask]),
    [
      [
        [1, 5, 2, 6, 3, 7],
        [0, 0, 0, 1, 0, 1],
      ],
    ],
  );
});

test('the parent itself is taken where both it and a twin are selected', async () => {
  const world = buildWorld([
    { id: 'a', prompt: [1], generated: [5] },
    { id: 'b', prompt: [1], generated: [5] },
    { id: 'c', parent: 'b', prompt: [2], generated: [6] },
  ]);
  const rows = rowsOf(await runWorld(world));
  assert.deepEqual(
    rows.map(({ spans }) => spans.map(({ callId }) => callId)),
    [['a'], ['b', 'c']],
  );
});

test('rows know the weight version of each of their calls', async () => {
  const world = buildWorld([
    { id: 'a', weight: 3 },
    { id: 'b', parent: 'a', weight: 4 },
  ]);
  const [row] = rowsOf(await runWorld(world));
  assert.deepEqual(
    row?.spans.map(({ weightVersion, from, generatedFrom, to, withLoss }) => [
      weightVersion,
      from,
      generatedFrom,
      to,
      withLoss,
    ]),
    [
      [3, 0, 2, 3, true],
      [4, 3, 5, 6, true],
    ],
  );
});

test('a length-limited selected call marks the rollout truncated; a rejected one does not', async () => {
  const world = buildWorld([{ id: 'a' }, { id: 'b', parent: 'a', status: 'incomplete', finish: 'max_output_tokens' }]);
  assert.equal((await runWorld(world)).truncated, true);
  assert.equal((await runWorld(world, { result: resultOf(world, ['a']) })).truncated, false);
});

test('a rollout of an attempt that is not named {group}_g{slot} is a group of its own', async () => {
  const world = buildWorld([{ id: 'a' }], 'rollout-7');
  assert.deepEqual(
    rowsOf(
      await runWorld(world, {
        policy: allCaptured,
        result: { response: { id: 'resp_a', output: answer('a') }, reward: 0 },
      }),
    ).map(({ rowId }) => rowId),
    ['rollout-7_g0_s0'],
  );
});
