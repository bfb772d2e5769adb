import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allCaptured, type RolloutOutcome } from '../../../src/trainer/index.ts';
import { toSchema2 } from '../../support/schema-2-world.ts';
import { buildWorld, callsOf, codes, resultOf, runWorld, type World } from '../../support/trainer-world.ts';

const failure = (callId: string, reason: string) => ({ schema_version: 3, model_call_id: callId, reason });
const LOST = 'request_finished_without_staged_coordinates';

async function masked(world: World, accepted: string[]): Promise<string[]> {
  const outcome = await runWorld(world, { result: resultOf(world, accepted) });
  if (outcome.kind === 'masked') assert.ok(outcome.reasons.every(({ message }) => message.length > 20));
  return codes(outcome);
}

function reasons(outcome: RolloutOutcome) {
  return outcome.kind === 'masked' ? outcome.reasons : [];
}

describe('pending and lost', () => {
  test('a pending call masks the rollout, selected or not', async () => {
    const world = buildWorld(callsOf('- 1'));
    world.ledger.manifest.attempted_call_ids.push('9');
    world.ledger.manifest.pending_call_ids.push('9');
    assert.deepEqual(await masked(world, ['1', '2']), ['pending_calls']);
  });

  test('so does a call that is recorded and said to be pending', async () => {
    const world = buildWorld(callsOf('- 1'));
    world.ledger.manifest.pending_call_ids.push('2');
    assert.deepEqual(await masked(world, ['1']), ['pending_calls']);
  });

  test('a failure masks it', async () => {
    const world = buildWorld(callsOf('- 1'));
    world.ledger.manifest.failures.push(failure('2', 'worker_capture_failed'));
    assert.deepEqual(await masked(world, ['1']), ['lost_evidence']);
  });

  test('but not an unselected call that finished late and was committed all the same', async () => {
    const world = buildWorld(callsOf('- 1'));
    world.ledger.manifest.failures.push(failure('2', LOST));
    assert.deepEqual(await masked(world, ['1']), []);
    assert.deepEqual(await masked(world, ['1', '2']), ['lost_evidence']);
  });

  test('that exception needs the commit, and that nothing is pending', async () => {
    const uncommitted = buildWorld(callsOf('- 1'));
    uncommitted.ledger.manifest.attempted_call_ids.push('9');
    uncommitted.ledger.manifest.failures.push(failure('9', LOST));
    assert.deepEqual(await masked(uncommitted, ['1']), ['lost_evidence']);

    const pending = buildWorld(callsOf('- 1'));
    pending.ledger.manifest.attempted_call_ids.push('9');
    pending.ledger.manifest.pending_call_ids.push('9');
    pending.ledger.manifest.failures.push(failure('2', LOST));
    assert.deepEqual(await masked(pending, ['1']), ['pending_calls', 'lost_evidence']);

    const other = buildWorld(callsOf('- 1'));
    other.ledger.manifest.failures.push(failure('2', LOST), failure('2', 'invalid_worker_commit_coordinates'));
    assert.deepEqual(await masked(other, ['1']), ['lost_evidence']);
  });

  test('an attempted call of which nothing is left masks it', async () => {
    const world = buildWorld(callsOf('- 1'));
    world.ledger.manifest.attempted_call_ids.push('9');
    assert.deepEqual(await masked(world, ['1', '2']), ['lost_evidence']);
  });

  test('refused calls do not', async () => {
    const world = buildWorld(callsOf('- 1'));
    world.ledger.refused = [{ model_call_id: '9', code: 'context_length_exceeded' }];
    assert.deepEqual(await masked(world, ['1', '2']), []);
  });

  test('schema 2: intents stand beside the manifest, and are told from failures', async () => {
    const world = toSchema2(buildWorld(callsOf('- 1')));
    (world.ledger.pending_call_ids as string[]).push('9');
    const outcome = await runWorld(world, {
      policy: allCaptured,
      result: { reward: 1, terminal_response_id: 'resp_2' },
    });
    assert.deepEqual(codes(outcome), ['pending_calls']);
  });

  test('with a failed selection both reasons are told', async () => {
    const world = buildWorld(callsOf('- 1'));
    world.ledger.manifest.pending_call_ids.push('2');
    world.ledger.manifest.records.pop();
    const outcome = await runWorld(world, { result: resultOf(world, ['1', '2']) });
    assert.deepEqual(codes(outcome), ['pending_calls', 'item_unmatched']);
  });

  test('an attempt without a recorded call has no rows', async () => {
    const world = buildWorld([]);
    assert.deepEqual(codes(await runWorld(world, { result: { reward: 1 } })), ['no_records', 'nothing_selected']);
  });
});

describe('how selected calls ended', () => {
  const cases: [status: string | null, finish: string | null, code: string | null][] = [
    ['completed', null, null],
    ['completed', 'stop', null],
    ['incomplete', 'content_filter', null],
    ['incomplete', null, 'missing_completion_metadata'],
    [null, 'abort', 'missing_completion_metadata'],
    [null, null, 'missing_completion_metadata'],
    ['in_progress', null, 'missing_completion_metadata'],
    ['failed', 'stop', 'logical_execution_failure'],
  ];
  for (const [status, finish, code] of cases) {
    test(`${status} with ${finish}: ${code ?? 'rows'}`, async () => {
      const world = buildWorld([{ id: '1' }, { id: '2', parent: '1', status, finish }]);
      assert.deepEqual(await masked(world, ['1', '2']), code === null ? [] : [code]);
      assert.deepEqual(await masked(world, ['1']), []);
    });
  }
});

describe('keys and owners', () => {
  test('a staging key of another call, and one of another attempt', async () => {
    for (const [key, code] of [
      ['group_g0/1', 'staging_key_mismatch'],
      ['group_g1/2', 'foreign_owner'],
    ] as const) {
      const world = buildWorld(callsOf('- 1'));
      (world.ledger.manifest.records[1] as { staging_key: string }).staging_key = key;
      assert.deepEqual(await masked(world, ['1', '2']), [code]);
      assert.deepEqual(await masked(world, ['1']), []);
    }
  });

  test('the manifest of another attempt', async () => {
    const world = buildWorld(callsOf('-'));
    world.ledger.manifest.capture_key = 'group_g1';
    assert.deepEqual(await masked(world, ['1']), ['foreign_owner']);
  });
});

describe('what cannot be read', () => {
  test('a ledger with a field missing, added or of the wrong type', async () => {
    const breaks: ((world: World) => void)[] = [
      (world) => delete (world.ledger as { state?: string }).state,
      (world) => Object.assign(world.ledger, { extra: 1 }),
      (world) => Object.assign(world.ledger.manifest.records[0] as object, { cum_len: '3' }),
      (world) => Object.assign(world.ledger.manifest.records[0] as object, { digest: 'A'.repeat(64) }),
      (world) => Object.assign(world.ledger.manifest, { schema_version: 4 }),
      (world) => world.ledger.manifest.records.push(world.ledger.manifest.records[0] as never),
    ];
    for (const breakIt of breaks) {
      const world = buildWorld(callsOf('- 1'));
      const result = resultOf(world, ['1', '2']);
      breakIt(world);
      assert.deepEqual(codes(await runWorld(world, { result })), ['ledger_malformed'], String(breakIt));
    }
  });

  test('a result without reward, and none at all', async () => {
    const world = buildWorld(callsOf('-'));
    const { reward: _, ...rest } = resultOf(world, ['1']);
    for (const reward of [undefined, null, '1', true]) {
      assert.deepEqual(
        codes(await runWorld(world, { result: { ...rest, ...(reward === undefined ? {} : { reward }) } })),
        ['reward_missing'],
      );
    }
    assert.deepEqual(codes(await runWorld(world, { result: '{"response":' })), ['result_malformed']);
    assert.deepEqual(codes(await runWorld(world, { result: '[]' })), ['result_malformed']);
  });

  test('every wrong shape of a result is named', async () => {
    const world = buildWorld(callsOf('-'));
    const cases: [result: object, why: RegExp][] = [
      [{ response: 7 }, /response is no object/],
      [{ response: { output: {} } }, /response\.output is no list/],
      [{ response: { output: ['x'] } }, /response\.output\[0\] is not an item/],
      [{ response: { id: 7 } }, /response\.id is no string/],
      [{ responses: {} }, /responses is no list/],
      [{ responses: [7] }, /responses\[0\] is no object/],
      [{ contains_transitions: true, response: { output: [[7]] } }, /response\.output\[0\]\[0\] is not an item/],
      [{ terminal_response_id: 7 }, /terminal_response_id of the result is no non-empty string/],
      [{ ng_trajectory: [] }, /ng_trajectory is no object/],
      [{ ng_trajectory: { turns: [7] } }, /ng_trajectory\.turns\[0\] is no turn/],
      [{ ng_trajectory: { turns: [{ model_calls: [7] }] } }, /model_calls\[0\] is no object/],
      [{ ng_trajectory: { turns: [{ model_calls: [{ response_id: 7 }] }] } }, /response_id is no non-empty string/],
    ];
    for (const [result, why] of cases) {
      const [first, second] = reasons(await runWorld(world, { result: { reward: 1, ...result } }));
      assert.equal(first?.code, 'result_malformed');
      assert.match(first?.message ?? '', why);
      assert.equal(second, undefined);
    }
  });
});
