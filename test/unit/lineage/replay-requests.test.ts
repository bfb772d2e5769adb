import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type RecordedRequest, type ReplayedRequest, replayRequests } from '../../../src/lineage/replay-requests.ts';
import type { ReasoningPolicy } from '../../../src/lineage/types.ts';
import { isJsonProblem, parseJson } from '../../../src/protocol/json/parse-json.ts';

/** One request of a test: its body and, where it was kept, the reply. */
type Written = readonly [body: object, response?: object];

function node(value: object) {
  const parsed = parseJson(Buffer.from(JSON.stringify(value)));
  if (isJsonProblem(parsed)) throw new Error(parsed.problem);
  return parsed;
}

function replay(path: string, written: readonly Written[], policy: ReasoningPolicy = 'required'): ReplayedRequest[] {
  const requests = written.map(
    ([body, response], at): RecordedRequest => ({
      name: String(at + 1),
      path,
      body: node(body),
      response: response === undefined ? undefined : node(response),
    }),
  );
  return replayRequests(requests, policy);
}

const CHAT = 'http://127.0.0.1:1/v1/chat/completions';
const user = (content: string) => ({ role: 'user', content });
const said = (content: string) => ({ role: 'assistant', content });
const chat = (...messages: object[]) => ({ model: 'policy', messages });
const answer = (message: object) => ({ id: 'chatcmpl-1', choices: [{ index: 0, message }] });
const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'f', arguments: args } });

describe('replayed requests', () => {
  test('a request continues the one whose history and reply it repeats', () => {
    const called = { role: 'assistant', content: null, tool_calls: [call('a', '{"x": 1.0}')] };
    const echoed = { role: 'assistant', content: '', tool_calls: [call('a', '{"x":1}')] };
    assert.deepEqual(
      replay(CHAT, [
        [chat(user('go')), answer(called)],
        [chat(user('go'), echoed, { role: 'tool', tool_call_id: 'a', content: 'ok' }), answer(said('done'))],
      ]).map(({ outcome, ...rest }) => ({ outcome, ...(outcome === 'continues' ? rest : {}) })),
      [{ outcome: 'root' }, { outcome: 'continues', name: '2', parent: '1', assumed: false }],
    );
  });

  test('without replies the turn that the next request puts in its place counts', () => {
    const history = [user('go'), said('one'), user('on'), said('two'), user('on')];
    const [first, second, third] = replay(CHAT, [
      [chat(...history.slice(0, 1))],
      [chat(...history.slice(0, 3))],
      [chat(...history)],
    ]);
    assert.equal(first?.outcome, 'root');
    assert.deepEqual(second, { name: '2', outcome: 'continues', parent: '1', assumed: true });
    assert.deepEqual(third, { name: '3', outcome: 'continues', parent: '2', assumed: true });
  });

  test('what was once taken for the reply stays it: another turn in its place is a rewrite', () => {
    const [, second, third] = replay(CHAT, [
      [chat(user('go'))],
      [chat(user('go'), said('one'), user('on'))],
      [chat(user('go'), said('one!'), user('on'))],
    ]);
    assert.equal(second?.outcome, 'continues');
    assert.ok(third?.outcome === 'root');
    const { cause, index, part, lengths, explanation } = third.why;
    assert.deepEqual(
      { cause, index, part, lengths, explanation },
      {
        cause: 'history_differs',
        index: 1,
        part: 'text',
        lengths: { record: 3, request: 4 },
        explanation: 'Item 1 (assistant) differs from that of call 2: its text, 3 there and 4 here.',
      },
    );
  });

  test('other tools make a root that names them, with and without the reply', () => {
    for (const response of [answer(said('one')), undefined]) {
      const first: Written = response === undefined ? [chat(user('go'))] : [chat(user('go')), response];
      const tools = [{ type: 'function', function: { name: 'g', parameters: {} } }];
      const [, second] = replay(CHAT, [first, [{ ...chat(user('go'), said('one'), user('on')), tools }]]);
      assert.ok(second?.outcome === 'root');
      assert.deepEqual([second.why.cause, second.why.keys], ['render_differs', ['tools']]);
    }
  });

  test('reasoning that is not echoed: a rewrite where it is required, else not', () => {
    const written: Written[] = [
      [chat(user('go')), answer({ ...said('one'), reasoning: 'hm' })],
      [chat(user('go'), said('one'), user('on'))],
    ];
    const [, required] = replay(CHAT, written);
    assert.ok(required?.outcome === 'root');
    assert.equal(required.why.part, 'reasoning');
    assert.equal(replay(CHAT, written, 'optional')[1]?.outcome, 'continues');
    assert.equal(replay(CHAT, written, 'hidden')[1]?.outcome, 'continues');
  });

  test('two calls with the same prompt and reply are ambiguous, unless an echoed id tells', () => {
    const input = [{ role: 'user', content: 'go' }];
    const message = (id: string) => ({
      type: 'message',
      id,
      role: 'assistant',
      content: [{ type: 'output_text', text: 'one' }],
    });
    const sample = (id: string): Written => [
      { model: 'm', input },
      { id: `r_${id}`, output: [message(id)] },
    ];
    const next = (turn: object): Written => [{ model: 'm', input: [...input, turn, { role: 'user', content: 'on' }] }];
    const { id, ...anonymous } = message('msg_2');
    const replayed = replay('/ng-rollout/a/v1/responses', [
      sample('msg_1'),
      sample('msg_2'),
      next(message(id)),
      next(anonymous),
    ]);
    assert.deepEqual(replayed[2], { name: '3', outcome: 'continues', parent: '2', assumed: false });
    assert.ok(replayed[3]?.outcome === 'ambiguous');
    assert.deepEqual(replayed[3].candidates, ['1', '2']);
  });

  test('Messages: the reply of an object, thinking and calls as they are echoed', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'tool_use', id: 'a', name: 'f', input: { y: 2, x: 1 } },
    ];
    const body = (...messages: object[]) => ({ model: 'm', max_tokens: 9, messages });
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] };
    const [, second] = replay('/v1/messages?beta=true', [
      [body(user('go')), { id: 'x', type: 'message', role: 'assistant', content }],
      [body(user('go'), { role: 'assistant', content }, result)],
    ]);
    assert.equal(second?.outcome, 'continues');
  });

  test('what is no call, was refused or failed cannot be continued', () => {
    const [first] = replay('/v1/models', [[{}]]);
    assert.deepEqual(first, { name: '1', outcome: 'no_call', message: '/v1/models is no path of a model call.' });
    const [failed, refused, next] = replay(CHAT, [
      [chat(user('go')), { error: { message: 'no' } }],
      [{ ...chat(user('go')), n: 2 }, answer(said('one'))],
      [chat(user('go'), said('one'), user('on'))],
    ]);
    assert.deepEqual(failed, { name: '1', outcome: 'no_call', message: 'It was answered with an error.' });
    assert.ok(refused?.outcome === 'refused');
    assert.match(refused.message, /\bn\b/);
    assert.ok(next?.outcome === 'root');
    assert.equal(next.why.cause, 'first_call');
  });

  test('a late system message keeps a Chat request from continuing', () => {
    const [, second] = replay(CHAT, [
      [chat(user('go')), answer(said('one'))],
      [chat(user('go'), said('one'), { role: 'system', content: 'now' }, user('on'))],
    ]);
    assert.ok(second?.outcome === 'root');
    assert.deepEqual([second.why.cause, second.why.index, second.why.role], ['suffix_role', 2, 'system']);
  });
});
