import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  allCaptured,
  declared,
  loadCustomPolicy,
  type RolloutOutcome,
  resolvePolicy,
} from '../../../src/trainer/index.ts';
import { toSchema2 } from '../../support/schema-2-world.ts';
import {
  answer,
  buildWorld,
  callsOf,
  codes,
  message,
  runWorld,
  selected,
  type World,
  type WorldCall,
} from '../../support/trainer-world.ts';

const folder = fileURLToPath(new URL('../../fixtures/trainer', import.meta.url));

function reasonOf(outcome: RolloutOutcome): string {
  return outcome.kind === 'masked' ? (outcome.reasons[0]?.message ?? '') : 'rows';
}

describe('all_captured', () => {
  const scored = (responseId: string, output: readonly unknown[] = []) => ({
    response: { id: 'h', output },
    terminal_response_id: responseId,
    reward: 1,
  });
  const run = async (calls: WorldCall[], result: object) =>
    selected(await runWorld(buildWorld(calls), { policy: allCaptured, result: { ...result } }));

  test('takes every recorded call, in commit order', async () => {
    assert.deepEqual(await run(callsOf('- - 1 2'), scored('resp_3')), ['1', '2', '3', '4']);
  });

  test('leaves out unscored leaves that failed, are unknown, or incomplete for another reason than length', async () => {
    const calls: WorldCall[] = [
      { id: 'root' },
      { id: 'good', parent: 'root' },
      { id: 'failed', parent: 'root', status: 'failed', finish: null },
      { id: 'unknown', parent: 'root', status: null, finish: 'abort' },
      { id: 'filtered', parent: 'root', status: 'incomplete', finish: 'content_filter' },
      { id: 'cut', parent: 'root', status: 'incomplete', finish: 'length' },
    ];
    assert.deepEqual(await run(calls, scored('resp_good')), ['root', 'good', 'cut']);
    assert.deepEqual(await run(calls, scored('resp_filtered')), ['root', 'good', 'filtered', 'cut']);
  });

  test('a failed call that others continue is no leaf: it masks the rollout', async () => {
    const world = buildWorld([
      { id: 'a', status: 'failed', finish: null },
      { id: 'b', parent: 'a' },
    ]);
    const outcome = await runWorld(world, { policy: allCaptured, result: scored('resp_b') });
    assert.deepEqual(codes(outcome), ['logical_execution_failure']);
  });

  test('the scored call is attributed by the response id or by what the response says', async () => {
    assert.deepEqual(await run(callsOf('- 1'), { response: { id: 'resp_2', output: [] }, reward: 1 }), ['1', '2']);
    const world = buildWorld(callsOf('- - 2'));
    const outcome = await runWorld(world, {
      policy: allCaptured,
      result: { response: { id: 'h', output: answer('3') }, reward: 1 },
    });
    assert.equal(outcome.selection?.scored?.model_call_id, '3');
    assert.equal(outcome.selection?.scoredBy, 'the content of response says so');
  });

  test('without an attributable scored call there is no selection', async () => {
    for (const result of [
      { response: { id: 'h', output: [message('made up')] } },
      { response: { id: 'h', output: [] } },
      {},
    ]) {
      const outcome = await runWorld(buildWorld(callsOf('- 1')), {
        policy: allCaptured,
        result: { reward: 1, ...result },
      });
      assert.deepEqual(codes(outcome), ['scored_call_unknown']);
    }
    const contradicted = { response: { id: 'resp_1', output: answer('2') }, reward: 1 };
    const outcome = await runWorld(buildWorld(callsOf('- -')), { policy: allCaptured, result: contradicted });
    assert.match(
      reasonOf(outcome),
      /contradict each other: the id of response names call 1, the content of response names call 2/,
    );
  });
});

describe('custom policies', () => {
  const run = async (name: string, world: World = buildWorld(callsOf('- 1 1'))) => {
    const policy = await loadCustomPolicy(`./policies.ts:${name}`, folder);
    return runWorld(world, { policy, result: { reward: 1 } });
  };

  test('select by a function of the records and the result', async () => {
    const outcome = await run('longestChain', buildWorld(callsOf('- 1 2 1')));
    assert.deepEqual(selected(outcome), ['1', '2', '3']);
    assert.equal(outcome.selection?.policy, './policies.ts:longestChain');
    assert.deepEqual(selected(await run('firstOnly')), ['1']);
  });

  test('what they return must be unique, unchanged records of this ledger and a selected terminal', async () => {
    const cases: [name: string, why: RegExp][] = [
      ['twice', /call 1 was selected twice/],
      ['changed', /selected\[0\] \(call 1\) was changed/],
      ['foreign', /selected\[0\] is no record of this ledger/],
      ['nothing', /it returned no list of selected records/],
      ['noTerminal', /it returned no terminal response id/],
      ['throwing', /it threw RangeError: no idea/],
    ];
    for (const [name, why] of cases) {
      const outcome = await run(name);
      assert.deepEqual(codes(outcome), ['policy_invalid'], name);
      assert.match(reasonOf(outcome), why);
    }
    assert.deepEqual(codes(await run('unselectedTerminal')), ['scored_call_not_selected']);
  });

  test('are found and checked before anything runs', async () => {
    await assert.rejects(
      loadCustomPolicy('./policies.ts:missing', folder),
      /exports no function missing: its functions are changed, firstOnly/,
    );
    await assert.rejects(loadCustomPolicy('./policies.ts:notAFunction', folder), /exports no function notAFunction/);
    await assert.rejects(
      loadCustomPolicy('./nowhere.ts:select', folder),
      /the policy module \.\/nowhere\.ts cannot be loaded/,
    );
    await assert.rejects(resolvePolicy(':select', folder), /not of the form module:function/);
    await assert.rejects(
      resolvePolicy('best', folder),
      /unknown policy best: give one of returned_history, all_captured, declared, or module:function/,
    );
    assert.equal((await resolvePolicy('all_captured', folder)).name, 'all_captured');
  });
});

describe('declared (schema 2)', () => {
  const schema2 = (calls: WorldCall[]) => toSchema2(buildWorld(calls));
  const run = async (world: World, result: object) =>
    runWorld(world, { policy: await resolvePolicy(undefined, folder), result: { reward: 1, ...result } });

  test('is the default for schema 2: the declared call and its ancestry, one row', async () => {
    const outcome = await run(schema2(callsOf('- 1 1 3')), { terminal_response_id: 'resp_4' });
    assert.deepEqual(selected(outcome), ['1', '3', '4']);
    assert.deepEqual(outcome.kind === 'rows' && outcome.rows.map((row) => row.tokenIds), [
      [10, 11, 1001, 30, 31, 1003, 40, 41, 1004],
    ]);
  });

  test('witnesses: the response id; all that was authored; the trailing block', async () => {
    const world = () => {
      const made = schema2(callsOf('- 1 1'));
      const continuation = { 1: null, 2: 'a'.repeat(64), 3: null };
      for (const record of made.ledger.manifest.records) {
        record.continuation_fingerprint = continuation[record.model_call_id as never as 1 | 2 | 3];
      }
      return made;
    };
    assert.deepEqual(selected(await run(world(), { response: { id: 'resp_3', output: [] } })), ['1', '3']);
    assert.deepEqual(selected(await run(world(), { response: { id: 'h', output: answer('3') } })), ['1', '3']);
    const merged = [...answer('1'), { type: 'function_call_output', call_id: 'x', output: '' }, ...answer('2')];
    assert.deepEqual(selected(await run(world(), { response: { id: 'h', output: merged } })), ['1', '2']);
  });

  test('the cumulative fingerprint is one of everything that the history authored', async () => {
    const { assistantFingerprint } = await import('../../../src/lineage/fingerprints.ts');
    const { parseJsonText } = await import('../../../src/protocol/json/parse-json.ts');
    const history = [...answer('1'), ...answer('2')];
    const world = schema2(callsOf('- 1 1'));
    const nodes = history.map((item) => parseJsonText(JSON.stringify(item)) as never);
    Object.assign(world.ledger.manifest.records[1] as object, {
      continuation_fingerprint: assistantFingerprint(nodes),
    });
    assert.deepEqual(selected(await run(world, { response: { id: 'h', output: history } })), ['1', '2']);
  });

  test('witnesses that name different calls attribute nothing', async () => {
    const outcome = await run(schema2(callsOf('- 1 1')), { response: { id: 'resp_2', output: answer('3') } });
    assert.deepEqual(codes(outcome), ['ambiguous_terminal']);
    assert.match(reasonOf(outcome), /the id of response names call 2, the content of response names call 3/);
  });

  test('a witness that fits several calls says nothing, unless they are twins', async () => {
    const same = [message('same')];
    const siblings = schema2([
      { id: 'a' },
      { id: 'b', parent: 'a', output: same },
      { id: 'c', parent: 'a', output: same },
    ]);
    assert.match(
      reasonOf(await run(siblings, { response: { id: 'h', output: same } })),
      /after call a it may be any of b, c/,
    );
    const twin = { prompt: [4], generated: [5], output: same };
    const twins = schema2([{ id: 'a' }, { id: 'b', parent: 'a', ...twin }, { id: 'c', parent: 'a', ...twin }]);
    assert.deepEqual(selected(await run(twins, { response: { id: 'h', output: same } })), ['a', 'b']);
  });

  test('without a witness: roots with children first, then the earliest; the only child, or the only one with children', async () => {
    const silent = { response: { id: 'h', output: [] } };
    assert.deepEqual(selected(await run(schema2(callsOf('- - 2 2 4')), silent)), ['2', '4', '5']);
    assert.deepEqual(selected(await run(schema2(callsOf('- -')), silent)), ['1']);
    const late = schema2(callsOf('- -'));
    (late.ledger.manifest.records[0] as { admitted_at: number }).admitted_at = 99;
    assert.deepEqual(selected(await run(late, silent)), ['2']);
    assert.deepEqual(codes(await run(schema2(callsOf('- 1 1')), silent)), ['ambiguous_terminal']);
    assert.deepEqual(codes(await run(schema2(callsOf('- 1 1 2 3')), silent)), ['ambiguous_terminal']);
  });

  test('the scored response tells whether the rollout was cut', async () => {
    const cut = { id: 'resp_1', output: [], status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    assert.equal((await run(schema2(callsOf('-')), { response: cut })).truncated, true);
    assert.equal(
      (await run(schema2(callsOf('-')), { response: { ...cut, incomplete_details: { reason: 'content_filter' } } }))
        .truncated,
      false,
    );
  });

  test('works with schema 3 as well', async () => {
    const outcome = await runWorld(buildWorld(callsOf('- 1 1')), {
      policy: declared,
      result: { terminal_response_id: 'resp_3', reward: 1 },
    });
    assert.deepEqual(selected(outcome), ['1', '3']);
  });
});
