import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineAnswer } from '../../../src/protocol/conversation.ts';
import { isAnswerProblem, parseEngineAnswer } from '../../../src/protocol/engine-answer.ts';
import { sealReasoning } from '../../../src/protocol/seal.ts';
import {
  anyRequest,
  CAPTURED,
  engineAnswer,
  json,
  REPLY,
  render,
  served,
  streamed,
  UNCAPTURED,
} from '../../support/responses-dialect.ts';
import { turnOf } from '../../support/turns.ts';

/** Conversion cases 6.D: the engine's answer as a Response object. */

const CALL = { id: 'call_a', name: 'f', arguments: '{"a": 1}' };

/** What the proxy makes of a worker's message. */
function fromWorker(message: object, choice: object = {}, rest: object = {}): EngineAnswer {
  const completion = { id: 'chatcmpl-1', choices: [{ message, finish_reason: 'stop', ...choice }], ...rest };
  const answer = parseEngineAnswer(json(completion), { callId: REPLY.callId });
  assert.ok(!isAnswerProblem(answer));
  return answer;
}

/** Kinds and statuses of the served items. */
const shape = (answer: Partial<EngineAnswer>) =>
  served(anyRequest(), answer).output.map((item) => `${item.type} ${item.status}`);

for (const [id, content] of [
  ['C80 content null', null],
  ['C81 content ""', ''],
] as const)
  test(`${id} beside a call gives the call alone`, () => {
    const reply = render(anyRequest(), fromWorker({ content, tool_calls: [{ id: 'call_a', function: CALL }] }));
    const { output } = JSON.parse(reply.json.toString());
    assert.equal(output.length, 1);
    assert.match(output[0].id, /^fc_[A-Za-z0-9]+$/);
    assert.deepEqual(output[0], {
      id: output[0].id,
      type: 'function_call',
      status: 'completed',
      call_id: 'call_a',
      name: 'f',
      arguments: '{"a": 1}',
    });
    assert.equal(reply.turn.content, null);
  });

test('C80 also streamed', () => {
  const added = streamed(anyRequest(), { content: null, toolCalls: [CALL] }).filter(
    ({ event }) => event === 'response.output_item.added',
  );
  assert.deepEqual(
    added.map(({ data }) => (data.item as { type: string }).type),
    ['function_call'],
  );
});

for (const message of [{ reasoning: 'r' }, { reasoning_content: 'r' }, { reasoning: 'r', reasoning_content: 'r' }])
  test(`C83 reasoning under ${Object.keys(message).join(' and ')} is one item`, () => {
    const { output } = served(anyRequest(), fromWorker({ content: 'x', ...message }));
    assert.equal(output.length, 2);
    assert.match(String(output[0]?.id), /^rs_[A-Za-z0-9]+$/);
    assert.deepEqual(output[0], {
      id: output[0]?.id,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'r' }],
      content: [{ type: 'reasoning_text', text: 'r' }],
      status: 'completed',
    });
  });

test('C83 empty reasoning is none', () => {
  for (const reasoning of ['', ' \n', null])
    assert.equal(served(anyRequest(), fromWorker({ content: 'x', reasoning })).output.length, 1);
});

test('C83 encrypted_content where it is asked for, or always', () => {
  const asked = anyRequest({ include: ['reasoning.encrypted_content'] });
  const always = anyRequest({}, { ...CAPTURED, alwaysEncryptReasoning: true });
  for (const request of [asked, always])
    assert.equal(served(request, { reasoning: 'r' }).output[0]?.encrypted_content, sealReasoning('r'));
});

test('reasoning that is hidden is not served, and is no part of the turn', () => {
  const reply = render(
    anyRequest({ include: ['reasoning.encrypted_content'] }),
    { reasoning: 'secret' },
    {
      ...REPLY,
      hideReasoning: true,
    },
  );
  assert.equal(reply.json.includes('secret'), false);
  assert.equal(reply.json.includes(sealReasoning('secret')), false);
  assert.equal(reply.turn.reasoning, null);
});

test('C84 a wish for summaries changes nothing but what is repeated', () => {
  const answer = { reasoning: 'r' };
  assert.deepEqual(
    served(anyRequest({ reasoning: { summary: 'auto' } }), answer).output,
    served(anyRequest(), answer).output,
  );
});

test('C85 reasoning, message, calls, with ids of their own', () => {
  const { output } = served(anyRequest(), { reasoning: 'r', content: 'x', toolCalls: [CALL, { ...CALL, id: 'b' }] });
  assert.deepEqual(
    output.map((item) => item.type),
    ['reasoning', 'message', 'function_call', 'function_call'],
  );
  assert.equal(new Set(output.map((item) => item.id)).size, 4);
});

test('C86 an answer cut by length is incomplete', () => {
  const response = served(anyRequest(), { finishReason: 'length' });
  assert.equal(response.status, 'incomplete');
  assert.deepEqual(response.incomplete_details, { reason: 'max_output_tokens' });
  assert.equal(response.error, null);
  assert.deepEqual(shape({ finishReason: 'length' }), ['message incomplete']);
  assert.equal(streamed(anyRequest(), { finishReason: 'length' }).at(-1)?.event, 'response.incomplete');
  const reply = render(anyRequest(), { finishReason: 'length' });
  assert.deepEqual([reply.status, reply.finishReason], ['incomplete', 'max_output_tokens']);
});

test('C86 so is one that a filter ended', () => {
  const response = served(anyRequest(), { finishReason: 'content_filter' });
  assert.deepEqual(response.incomplete_details, { reason: 'content_filter' });
  assert.equal(response.status, 'incomplete');
});

test('C88 a call cut by length is incomplete, its arguments as they are', () => {
  const toolCalls = [CALL, { id: 'b', name: 'f', arguments: '{"cmd": "ec' }];
  assert.deepEqual(shape({ content: 'x', toolCalls, finishReason: 'length' }), [
    'message completed',
    'function_call completed',
    'function_call incomplete',
  ]);
  const { output } = served(anyRequest(), { toolCalls, finishReason: 'length' });
  assert.equal(output.at(-1)?.arguments, '{"cmd": "ec');
});

test('C89 reasoning cut by length stands alone', () => {
  for (const content of [null, ''])
    assert.deepEqual(shape({ content, reasoning: 'r', finishReason: 'length' }), ['reasoning incomplete']);
});

test('C90 an answer that the engine broke off has failed', () => {
  for (const finishReason of ['abort', 'error']) {
    const reply = render(anyRequest(), { finishReason });
    assert.deepEqual([reply.status, reply.finishReason], ['failed', finishReason]);
    assert.equal(JSON.parse(reply.json.toString()).error.code, 'server_error');
    assert.equal(streamed(anyRequest(), { finishReason }).at(-1)?.event, 'response.failed');
  }
});

test('C90 other and absent finish reasons complete', () => {
  for (const finish_reason of [null, 'stop', 'tool_calls', 'eos'])
    assert.equal(served(anyRequest(), fromWorker({ content: 'x' }, { finish_reason })).status, 'completed');
});

test('an empty answer has no item and a turn that says nothing', () => {
  for (const content of [null, '']) {
    const reply = render(anyRequest(), { content });
    assert.deepEqual(reply.outputItems, []);
    assert.deepEqual(reply.turn, turnOf());
    assert.equal(reply.status, 'completed');
  }
});

test('C92 usage has integers only', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: null };
  const want = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  assert.deepEqual(served(anyRequest(), fromWorker({ content: 'x' }, {}, { usage })).usage, want);
  const details = {
    ...usage,
    prompt_tokens_details: { cached_tokens: 7 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  assert.deepEqual(served(anyRequest(), fromWorker({ content: 'x' }, {}, { usage: details })).usage, {
    ...want,
    input_tokens_details: { cached_tokens: 7, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 3 },
  });
  assert.deepEqual(served(anyRequest(), fromWorker({ content: 'x' })).usage, {
    ...want,
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
  });
});

test("C95 the envelope id is the engine's under capture, one of ours without", () => {
  assert.equal(served(anyRequest()).id, 'chatcmpl-1');
  const plain = anyRequest({}, UNCAPTURED);
  const options = { ...REPLY, captured: false };
  const reply = render(plain, {}, options);
  assert.match(reply.responseId, /^resp_[A-Za-z0-9]+$/);
  assert.equal(served(plain, {}, options).id, reply.responseId);
  const [created] = streamed(plain, {}, options);
  assert.equal((created?.data.response as { id: string } | undefined)?.id, reply.responseId);
});

test('C95 item ids have their prefixes, and another call has others', () => {
  const answer = { reasoning: 'r', toolCalls: [CALL] };
  const ids = (callId: string) =>
    served(anyRequest(), answer, { ...REPLY, callId }).output.map((item) => String(item.id));
  for (const [at, prefix] of ['rs', 'msg', 'fc'].entries())
    assert.match(ids('1')[at] as string, new RegExp(`^${prefix}_[A-Za-z0-9]+$`));
  assert.deepEqual(ids('1'), ids('1'));
  assert.deepEqual(
    ids('1').filter((id) => ids('2').includes(id)),
    [],
  );
});

test('C96 C97 call ids are verbatim', () => {
  for (const id of ['list_dir:0', 'functions.f:12', 'call_weird/id.1', 'x'.repeat(100), 'a\nb'])
    assert.equal(served(anyRequest(), { toolCalls: [{ ...CALL, id }] }).output.at(-1)?.call_id, id);
});

test('C101 a refusal is a part of its own, for Codex a text', () => {
  const answer = fromWorker({ content: null, refusal: 'no' });
  assert.deepEqual(served(anyRequest(), answer).output[0]?.content, [{ type: 'refusal', refusal: 'no' }]);
  const codex = anyRequest({}, { ...CAPTURED, userAgent: 'codex_exec/0.169.0 (Linux)' });
  assert.deepEqual(served(codex, answer).output[0]?.content, [
    { type: 'output_text', text: 'no', annotations: [], logprobs: [] },
  ]);
  assert.equal(render(anyRequest(), answer).turn.refusal, 'no');
  assert.equal(render(codex, answer).turn.content, 'no');
});

test('C102 arguments that a worker sent as an object keep their source text', () => {
  const source = '{"b": 1.0, "a": 12345678901234567890}';
  const body = `{"id":"x","choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":${source}}}]}}]}`;
  const answer = parseEngineAnswer(json(body), { callId: 'c' });
  assert.ok(!isAnswerProblem(answer));
  assert.equal(served(anyRequest(), answer).output[0]?.arguments, source);
});

test('C104 think tags in the text are left alone', () => {
  const { output } = served(anyRequest(), { content: '<think>r</think>x' });
  assert.deepEqual(
    output.map((item) => item.type),
    ['message'],
  );
  assert.deepEqual(output[0]?.content, [
    { type: 'output_text', text: '<think>r</think>x', annotations: [], logprobs: [] },
  ]);
});

test('C105 text and call are one turn', () => {
  const reply = render(anyRequest(), { content: 'x', toolCalls: [CALL] });
  assert.deepEqual(reply.turn.toolCalls, [CALL]);
  assert.equal(reply.turn.content, 'x');
});

test('C150 arguments that are no JSON are forwarded', () => {
  for (const text of ['{"a": NaN}', '', '{bad', 'x\u0000y']) {
    const reply = render(anyRequest(), { toolCalls: [{ ...CALL, arguments: text }] });
    assert.equal(JSON.parse(reply.json.toString()).output[1].arguments, text);
    assert.equal(reply.turn.toolCalls[0]?.arguments, text);
  }
});

test('C148 C149 lone surrogates, nulls and line separators reach the client as they are', () => {
  const text = 'a\ud83d b\u0000c\u2028d\u2029e\u0085f\u007f😀';
  const answer = engineAnswer({
    content: text,
    reasoning: text,
    toolCalls: [{ ...CALL, name: text, arguments: text }],
  });
  const reply = render(anyRequest(), answer);
  const { output } = JSON.parse(reply.json.toString());
  assert.equal(output[0].content[0].text, text);
  assert.equal(output[1].content[0].text, text);
  assert.equal(output[2].arguments, text);
  assert.equal(reply.turn.content, text);
  assert.equal(reply.turn.reasoning, text);
});
