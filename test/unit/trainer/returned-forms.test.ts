import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { returnedHistory, type Selection } from '../../../src/trainer/index.ts';
import { toSchema2 } from '../../support/schema-2-world.ts';
import { type Items, refuse, response, select, toolOutput, user, withoutIds } from '../../support/select-calls.ts';
import { answer, buildWorld, callsOf, message, resultOf, runWorld } from '../../support/trainer-world.ts';

describe('responses', () => {
  const world = () => buildWorld(callsOf('- 1 1'));
  const own = (id: string) => ({ id: `resp_${id}`, output: withoutIds(answer(id)) });

  test('each ends with its own call', async () => {
    assert.deepEqual(await select(world(), { responses: [own('1'), own('3')] }), ['1', '3']);
  });

  test('a call never spans two of them', async () => {
    const [reasoning, text] = withoutIds(answer('1'));
    const found = await refuse(world(), { responses: [{ output: [reasoning] }, { output: [text] }] });
    assert.match(found.message, /responses\[0\]\.output\[0\] .* its item 1 of 2 is not the next one/);
  });

  test('a call without output is selected by its response id alone', async () => {
    const silent = buildWorld([{ id: '1' }, { id: '2', parent: '1', output: [] }, { id: '3', parent: '2' }]);
    assert.deepEqual(await select(silent, { responses: [own('1'), { id: 'resp_2', output: [] }, own('3')] }), [
      '1',
      '2',
      '3',
    ]);
  });

  test('a single response beside them must be the whole again, or the last of them', async () => {
    const responses = [own('1'), own('3')];
    assert.deepEqual(await select(world(), { responses, response: own('3') }), ['1', '3']);
    assert.deepEqual(
      await select(world(), { responses, response: { id: 'resp_3', output: [...answer('1'), ...answer('3')] } }),
      ['1', '3'],
    );
    const found = await refuse(world(), { responses, response: { id: 'x', output: [...answer('1'), ...answer('2')] } });
    assert.equal(found.code, 'forms_disagree');
    assert.match(found.message, /response holds the calls 1 2, and responses hold 1 3/);
  });
});

describe('transition snapshots', () => {
  const world = () => buildWorld(callsOf('- 1 -'));
  const snapshots = (output: Items[], where: 'result' | 'response' = 'result') =>
    where === 'result'
      ? { contains_transitions: true, response: { id: 'h', output } }
      : { response: { id: 'h', contains_transitions: true, output } };

  test('are united by item id, wherever the flag stands', async () => {
    const output = [
      [user, ...answer('1')],
      [user, ...answer('1'), toolOutput, ...answer('2')],
      [user, ...answer('3')],
    ];
    assert.deepEqual(await select(world(), snapshots(output)), ['1', '2', '3']);
    assert.deepEqual(await select(world(), snapshots(output, 'response')), ['1', '2', '3']);
  });

  test('in several responses', async () => {
    const responses = [
      { id: 'resp_2', output: [answer('1'), [...answer('1'), ...answer('2')]] },
      { id: 'resp_3', output: [answer('3')] },
    ];
    assert.deepEqual(await select(world(), { contains_transitions: true, responses }), ['1', '2', '3']);
  });

  test('the same id with other content is a contradiction', async () => {
    const found = await refuse(world(), snapshots([answer('1'), [answer('1')[0], message('edited', 'msg_1')]]));
    assert.equal(found.code, 'item_contradicts_id');
    assert.match(
      found.message,
      /response\.output\[1\]\[1\] and response\.output\[0\]\[1\] have the same id msg_1 and different content/,
    );
  });

  test('an authored item without id cannot be united', async () => {
    assert.equal((await refuse(world(), snapshots([withoutIds(answer('1'))]))).code, 'item_without_id');
  });

  test('the same id twice in one snapshot', async () => {
    assert.equal((await refuse(world(), snapshots([[...answer('1'), ...answer('1')]]))).code, 'call_reused');
  });

  test('lists without the flag are refused, and items with it', async () => {
    assert.match((await refuse(world(), response([answer('1')]))).message, /snapshots need contains_transitions/);
    assert.match((await refuse(world(), snapshots(answer('1') as never))).message, /is not a snapshot/);
  });
});

describe('trajectory references', () => {
  const world = () => buildWorld(callsOf('- 1 1'));
  const turns = (...calls: object[][]) => ({ ng_trajectory: { turns: calls.map((model_calls) => ({ model_calls })) } });

  test('alone they are the selection, in their order', async () => {
    assert.deepEqual(
      await select(
        world(),
        turns([{ model_call_id: '1' }], [{ response_id: 'resp_3' }, { model_call_id: '2', response_id: 'resp_2' }]),
      ),
      ['1', '3', '2'],
    );
  });

  test('with a returned output they must agree', async () => {
    const both = (calls: object[][]) => ({ ...response([...answer('1'), ...answer('2')]), ...turns(...calls) });
    assert.deepEqual(await select(world(), both([[{ model_call_id: '1' }], [{ model_call_id: '2' }]])), ['1', '2']);
    const other = await refuse(world(), both([[{ model_call_id: '1' }], [{ model_call_id: '3' }]]));
    assert.deepEqual([other.code, other.itemIndex], ['forms_disagree', 2]);
    assert.match(
      other.message,
      /the trajectory names call 3 next, but response\.output\[2\] \(reasoning\) is no part of it/,
    );
    assert.match(
      (await refuse(world(), both([[{ model_call_id: '1' }]]))).message,
      /names no further call, but response\.output\[2\]/,
    );
    const longer = both([[{ model_call_id: '1' }], [{ model_call_id: '2' }], [{ model_call_id: '3' }]]);
    assert.match((await refuse(world(), longer)).message, /names call 3 next, but the returned items end/);
  });

  test('every turn or none', async () => {
    const found = await refuse(world(), { ng_trajectory: { turns: [{ model_calls: [{ model_call_id: '1' }] }, {}] } });
    assert.equal(found.code, 'partial_references');
    assert.match(found.message, /turns\[1\] names no model call while other turns do/);
    assert.equal((await refuse(world(), turns([{ request: 'x' }]))).code, 'partial_references');
    assert.deepEqual(
      await select(world(), { ...response(answer('1')), ng_trajectory: { turns: [{}, { model_calls: [] }] } }),
      ['1'],
    );
  });

  test('unknown and contradicting references', async () => {
    assert.equal((await refuse(world(), turns([{ model_call_id: 'x' }]))).code, 'unknown_reference');
    assert.equal((await refuse(world(), turns([{ response_id: 'x' }]))).code, 'unknown_reference');
    const found = await refuse(world(), turns([{ model_call_id: '1', response_id: 'resp_2' }]));
    assert.equal(found.code, 'forms_disagree');
    assert.match(found.message, /name different calls, 2 and 1/);
  });
});

describe('the scored call', () => {
  test('is the one that is declared, else the last; it must be a member', async () => {
    const world = buildWorld(callsOf('- 1 1'));
    const scoredOf = async (result: object) => {
      const outcome = await runWorld(world, { result: { reward: 1, ...result } });
      return (outcome.selection as Selection).scored?.model_call_id;
    };
    assert.equal(await scoredOf(resultOf(world, ['1', '2'])), '2');
    assert.equal(await scoredOf({ ...resultOf(world, ['1', '2']), terminal_response_id: 'resp_1' }), '1');
    const other = await refuse(world, { ...resultOf(world, ['1', '2']), terminal_response_id: 'resp_3' });
    assert.equal(other.code, 'scored_call_not_selected');
    assert.equal(
      (await refuse(world, { ...resultOf(world, ['1']), terminal_response_id: 'x' })).code,
      'unknown_reference',
    );
  });

  test('two calls under one response id name neither', async () => {
    const world = buildWorld([
      { id: '1', responseId: 'resp_x' },
      { id: '2', parent: '1', responseId: 'resp_x' },
    ]);
    const found = await refuse(world, { ...resultOf(world, ['1', '2']), terminal_response_id: 'resp_x' });
    assert.match(found.message, /names 2 captured calls: 1, 2/);
  });
});

test('returned_history says that it cannot work with records of schema 2', async () => {
  const world = toSchema2(buildWorld(callsOf('-')));
  const outcome = await runWorld(world, { policy: returnedHistory });
  assert.deepEqual(outcome.kind === 'masked' && outcome.reasons.map(({ code }) => code), ['policy_unsupported']);
});
