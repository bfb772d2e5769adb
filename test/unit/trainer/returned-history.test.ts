import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refuse, response, select, toolOutput, user, withoutIds } from '../../support/select-calls.ts';
import { answer, buildWorld, callsOf, message, resultOf } from '../../support/trainer-world.ts';

describe('response', () => {
  test('items of other roles and outputs of tools are no part of any call', async () => {
    const world = buildWorld(callsOf('- 1'));
    const output = [user, ...answer('1'), toolOutput, user, ...answer('2')];
    assert.deepEqual(await select(world, response(output)), ['1', '2']);
  });

  test('content decides where ids were dropped or made anew', async () => {
    const world = buildWorld(callsOf('- 1'));
    const renamed = answer('2').map((item, at) => ({ ...(item as object), id: `own_${at}` }));
    assert.deepEqual(await select(world, response([...withoutIds(answer('1')), ...renamed])), ['1', '2']);
  });

  test('tool calls, custom calls and reasoning are matched by what they say', async () => {
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'think' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'shell', arguments: '{"a":1.0,"b":1}' },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'patch', input: 'x\n' },
    ];
    const world = buildWorld([{ id: 'a', output }]);
    const echoed = [
      {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'think' }],
        encrypted_content: null,
        status: 'completed',
      },
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'shell',
        arguments: '{ "b": 1, "a": 1.0 }',
        status: 'completed',
      },
      toolOutput,
      { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'x\n' },
    ];
    assert.deepEqual(await select(world, response(echoed)), ['a']);
  });

  test('a number that another spelling would change is told apart', async () => {
    const call = (args: string) => [{ type: 'function_call', call_id: 'call_1', name: 'f', arguments: args }];
    const world = buildWorld([{ id: 'a', output: call('{"n":9007199254740993}') }]);
    assert.deepEqual(await select(world, response(call('{"n":9007199254740993}'))), ['a']);
    assert.equal((await refuse(world, response(call('{"n":9007199254740992}')))).code, 'item_unmatched');
  });

  test('Chat and Messages turns count as one message and one item per call', async () => {
    const call = { type: 'function_call', id: 'call_1', call_id: 'call_1', name: 'shell', arguments: '{"a":1}' };
    const world = buildWorld([{ id: 'a', output: [message('look'), call] }]);
    const chat = {
      role: 'assistant',
      content: 'look',
      reasoning: 'hm',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'shell', arguments: '{"a": 1}' } }],
    };
    const messages = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'look' },
        { type: 'tool_use', id: 'call_1', name: 'shell', input: { a: 1 } },
      ],
    };
    assert.deepEqual(await select(world, response([chat])), ['a']);
    assert.deepEqual(await select(world, response([messages])), ['a']);
  });

  test('a custom call of Chat counts as the function call that it was made from', async () => {
    const call = {
      type: 'function_call',
      id: 'call_1',
      call_id: 'call_1',
      name: 'patch',
      arguments: '{ "input": "x\\n" }',
    };
    const world = buildWorld([{ id: 'a', output: [call] }]);
    const chat = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: 'x\n' } }],
    };
    assert.deepEqual(await select(world, response([chat])), ['a']);
  });

  test('a Chat or Messages turn that says nothing is the one call without output that goes on there', async () => {
    const world = buildWorld([{ id: '1' }, { id: '2', parent: '1', output: [] }, { id: '3', parent: '2' }]);
    for (const empty of [
      { role: 'assistant', content: '' },
      { role: 'assistant', content: null, refusal: 'no' },
      { role: 'assistant', content: null, reasoning: 'a long thought that was cut off' },
      { role: 'assistant', content: [] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'a long thought', signature: 's' }] },
    ]) {
      assert.deepEqual(await select(world, response([...answer('1'), empty])), ['1', '2']);
      assert.deepEqual(await select(world, response([...answer('1'), empty], 'resp_2')), ['1', '2']);
      assert.deepEqual(await select(world, response([...answer('1'), empty, ...answer('3')])), ['1', '2', '3']);
    }
  });

  test('a turn that says nothing and is no call is the agent’s own; one that could be two calls is an error', async () => {
    const empty = { role: 'assistant', content: '' };
    const world = buildWorld([
      { id: '1' },
      { id: '2', parent: '1', output: [] },
      { id: '3', parent: '1' },
      { id: '4', parent: '3', output: [] },
      { id: '5', parent: '3', output: [] },
    ]);
    assert.deepEqual(await select(world, response([empty, ...answer('1')])), ['1']);
    assert.deepEqual(await select(world, response([...answer('1'), empty, empty])), ['1', '2']);
    const found = await refuse(world, response([...answer('1'), ...answer('3'), empty]));
    assert.equal(found.code, 'item_ambiguous');
    assert.equal(found.itemIndex, 4);
    assert.equal(
      found.message,
      'response.output[4] says nothing and matches two calls, 4 and 5, and no id or reference settles which',
    );
    assert.deepEqual(await select(world, response([...answer('1'), ...answer('3'), empty], 'resp_5')), ['1', '3', '5']);
  });

  test('a rejected call is not selected, whatever the ledger says of it', async () => {
    const world = buildWorld(callsOf('- - 2 2'));
    assert.deepEqual(await select(world, resultOf(world, ['2', '4'])), ['2', '4']);
  });
});

describe('what settles two matches', () => {
  /** c and d give the same answer, siblings after b; e continues d. */
  const twice = () =>
    buildWorld([
      { id: 'b' },
      { id: 'c', parent: 'b', output: [message('same', 'msg_c')] },
      { id: 'd', parent: 'b', output: [message('same', 'msg_d')] },
      { id: 'e', parent: 'd', output: [message('end', 'msg_e')] },
    ]);
  const same = message('same');

  test('nothing: an error that names the item and both calls', async () => {
    const found = await refuse(twice(), response([...answer('b'), same]));
    assert.equal(found.code, 'item_ambiguous');
    assert.equal(found.itemIndex, 2);
    assert.match(
      found.message,
      /response\.output\[2\] \(message\) matches two calls, c and d, and no id or reference settles which/,
    );
  });

  test('an id of the item', async () => {
    assert.deepEqual(await select(twice(), response([...answer('b'), message('same', 'msg_d')])), ['b', 'd']);
  });

  test('the id of the envelope that ends there', async () => {
    assert.deepEqual(await select(twice(), response([...answer('b'), same], 'resp_d')), ['b', 'd']);
    assert.deepEqual(await select(twice(), response([...answer('b'), same], 'resp_c')), ['b', 'c']);
  });

  test('the declared scored call', async () => {
    assert.deepEqual(await select(twice(), { ...response([...answer('b'), same]), terminal_response_id: 'resp_c' }), [
      'b',
      'c',
    ]);
  });

  test('the ancestors of a call that an id requires', async () => {
    assert.deepEqual(await select(twice(), response([...answer('b'), same, message('end', 'msg_e')])), ['b', 'd', 'e']);
  });

  test('not the ancestors of a call that only its content names', async () => {
    const found = await refuse(twice(), response([...withoutIds(answer('b')), same, message('end')]));
    assert.equal(found.code, 'item_ambiguous');
    assert.match(found.message, /c and d/);
  });

  test('not the order of commits: equal answers in both orders are two histories', async () => {
    const world = buildWorld([
      { id: 'a', output: [message('ok')] },
      { id: 'b', parent: 'a', output: [message('ok')] },
    ]);
    assert.equal((await refuse(world, response([message('ok'), message('ok')]))).code, 'item_ambiguous');
    assert.deepEqual(await select(world, response([message('ok'), message('ok')], 'resp_b')), ['a', 'b']);
  });

  test('calls of different lengths: the only way to cover all items is no ambiguity', async () => {
    const world = buildWorld([
      { id: 'a', output: [message('x')] },
      { id: 'b', output: [message('x'), message('y')] },
    ]);
    assert.deepEqual(await select(world, response([message('x'), message('y'), message('x')])), ['b', 'a']);
    const three = buildWorld([
      { id: 'a', output: [message('x')] },
      { id: 'b', output: [message('x'), message('y')] },
      { id: 'c', output: [message('y')] },
    ]);
    const found = await refuse(three, response([message('x'), message('y')]));
    assert.equal(found.code, 'item_ambiguous');
    assert.match(found.message, /response\.output\[0\] .* a and b/);
  });

  test('references', async () => {
    const references = {
      ng_trajectory: {
        turns: [{ model_calls: [{ model_call_id: 'b' }] }, { model_calls: [{ response_id: 'resp_c' }] }],
      },
    };
    assert.deepEqual(await select(twice(), { ...response([...answer('b'), same]), ...references }), ['b', 'c']);
  });

  test('a hundred equal answers end in an answer, not in a search without end', async () => {
    const equal = Array.from({ length: 100 }, (_, at) => ({ id: `c${at}`, output: [message('ok')] }));
    const output = equal.map(() => message('ok'));
    assert.equal((await refuse(buildWorld(equal), response(output))).code, 'item_ambiguous');
    assert.equal((await refuse(buildWorld(equal.slice(1)), response(output))).code, 'item_ambiguous');
  });
});

describe('what matches nothing', () => {
  test('an item that no call has', async () => {
    const world = buildWorld(callsOf('- 1'));
    const found = await refuse(world, response([...answer('1'), message('made up')]));
    assert.deepEqual([found.code, found.itemIndex], ['item_unmatched', 2]);
    assert.match(
      found.message,
      /response\.output\[2\] \(message\) matches no captured call: no captured call has an item with this content/,
    );
  });

  test('half of a call: calls are returned whole', async () => {
    const world = buildWorld(callsOf('- 1'));
    const head = await refuse(world, response([...answer('1'), answer('2')[0]]));
    assert.deepEqual([head.code, head.itemIndex], ['item_unmatched', 2]);
    assert.match(head.message, /call 2 begins so, but its item 1 of 2 is not the next one/);
    const tail = await refuse(world, response([...answer('1'), answer('2')[1]]));
    assert.match(tail.message, /it is item 1 of call 2, whose items before it do not stand before it/);
  });

  test('a call whose items stand apart', async () => {
    const world = buildWorld(callsOf('- -'));
    const [r1, a1] = answer('1');
    const [r2, a2] = answer('2');
    assert.equal((await refuse(world, response([r1, r2, a1, a2]))).code, 'item_unmatched');
  });

  test('the right content under the id of another call', async () => {
    const world = buildWorld([
      { id: 'a', output: [message('same', 'msg_a')] },
      { id: 'b', output: [message('other', 'msg_b')] },
    ]);
    const found = await refuse(world, response([message('same', 'msg_b')]));
    assert.equal(found.code, 'item_contradicts_id');
    assert.match(found.message, /carries the id of an item of call b, but not its content/);
  });

  test('an item with the id of one call and the call id of another', async () => {
    const call = (id: string, callId: string) => ({
      type: 'function_call',
      id,
      call_id: callId,
      name: 'f',
      arguments: '{}',
    });
    const world = buildWorld([
      { id: 'a', output: [call('one', 'one')] },
      { id: 'b', output: [call('two', 'two')] },
    ]);
    assert.equal((await refuse(world, response([call('one', 'two')]))).code, 'item_contradicts_id');
  });

  test('an envelope id whose call does not end there', async () => {
    const world = buildWorld(callsOf('- 1'));
    const found = await refuse(world, response([...answer('1'), ...answer('2')], 'resp_1'));
    assert.equal(found.code, 'item_unmatched');
    assert.match(found.message, /call 1 has this content, but a response id says that it stands elsewhere/);
  });

  test('an envelope id whose call left nothing there', async () => {
    const world = buildWorld(callsOf('-'));
    assert.match((await refuse(world, response([], 'resp_1'))).message, /holds none of its items/);
  });

  test('an envelope id of a call whose output could not be fingerprinted', async () => {
    const world = buildWorld(callsOf('-'));
    Object.assign(world.ledger.manifest.records[0] as object, { output_items: null });
    assert.match((await refuse(world, response([], 'resp_1'))).message, /could not be fingerprinted/);
  });
});

describe('reuse', () => {
  test('the same item twice', async () => {
    const world = buildWorld(callsOf('-'));
    const found = await refuse(world, response([...answer('1'), ...answer('1')]));
    assert.deepEqual([found.code, found.itemIndex], ['call_reused', 2]);
  });

  test('the same content twice, of one call', async () => {
    const world = buildWorld(callsOf('-'));
    const items = withoutIds(answer('1'));
    const found = await refuse(world, response([...items, ...items]));
    assert.equal(found.code, 'call_reused');
    assert.match(found.message, /both match call 1, and no other call is left/);
  });

  test('the same response twice', async () => {
    const world = buildWorld(callsOf('- 1'));
    const items = withoutIds(answer('1'));
    const envelope = { id: 'resp_1', output: items };
    assert.equal((await refuse(world, { responses: [envelope, envelope] })).code, 'call_reused');
  });

  test('the same reference twice', async () => {
    const world = buildWorld(callsOf('-'));
    const turns = [{ model_calls: [{ model_call_id: '1' }] }, { model_calls: [{ response_id: 'resp_1' }] }];
    assert.equal((await refuse(world, { ng_trajectory: { turns } })).code, 'call_reused');
  });
});

describe('items that cannot be used', () => {
  test('a generated item of a type that no call can have', async () => {
    const world = buildWorld(callsOf('-'));
    for (const item of [
      { type: 'web_search_call', id: 'ws' },
      { type: 'image_generation_call' },
      { type: 'item_reference', id: 'x' },
      { type: 'message', role: 'critic', content: 'x' },
    ]) {
      const found = await refuse(world, response([...answer('1'), item]));
      assert.deepEqual([found.code, found.itemIndex], ['item_unsupported', 2], item.type);
    }
  });

  test('an item that has no fingerprint', async () => {
    const world = buildWorld(callsOf('-'));
    const found = await refuse(world, response([{ role: 'assistant', content: [{ noType: 1 }] }]));
    assert.deepEqual([found.code, found.itemIndex], ['item_unfingerprintable', 0]);
  });

  test('nothing at all', async () => {
    const world = buildWorld(callsOf('-'));
    assert.equal((await refuse(world, response([user]))).code, 'nothing_selected');
    assert.equal((await refuse(world, {})).code, 'nothing_selected');
  });
});
