import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EngineAnswer } from '../../../src/protocol/conversation.ts';
import { isAnswerProblem, parseEngineAnswer } from '../../../src/protocol/engine-answer.ts';
import { sealReasoning } from '../../../src/protocol/seal.ts';
import { ANSWER, convert, events, json, message, render, streamText } from '../../support/messages-dialect.ts';
import { turnOf } from '../../support/turns.ts';

/** conversion-cases.md, groups 6.D and 6.E where they concern Messages: an engine's answer as a Message object and as its events. */

const callOf = (args: string, id = 'call_1') => ({ id, name: 'f', arguments: args });

interface Row {
  readonly id: string;
  readonly answer: Partial<EngineAnswer>;
  readonly content: readonly unknown[];
  readonly stop: string;
}

const ROWS: readonly Row[] = [
  { id: 'a text', answer: { content: 'hi' }, content: [{ type: 'text', text: 'hi' }], stop: 'end_turn' },
  {
    id: 'C80 calls without a text',
    answer: { toolCalls: [callOf('{"a":1}')], finishReason: 'tool_calls' },
    content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } }],
    stop: 'tool_use',
  },
  {
    id: 'C81 an empty text beside calls is no block',
    answer: { content: '', toolCalls: [callOf('')], finishReason: 'tool_calls' },
    content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }],
    stop: 'tool_use',
  },
  {
    id: 'C83, C85 thinking with a sealed signature, then text, then parallel calls',
    answer: {
      content: '  x\n',
      reasoning: ' r\n',
      toolCalls: [callOf('{}', 'a'), callOf('{}', 'b')],
      finishReason: 'stop',
    },
    content: [
      { type: 'thinking', thinking: ' r\n', signature: sealReasoning(' r\n') },
      { type: 'text', text: '  x\n' },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
      { type: 'tool_use', id: 'b', name: 'f', input: {} },
    ],
    stop: 'tool_use',
  },
  {
    id: 'C86 cut by length',
    answer: { content: 'hi', finishReason: 'length' },
    content: [{ type: 'text', text: 'hi' }],
    stop: 'max_tokens',
  },
  {
    id: 'C40, C88 cut by length inside arguments',
    answer: { toolCalls: [callOf('{"cmd": "ec')], finishReason: 'length' },
    content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: { _raw: '{"cmd": "ec' } }],
    stop: 'max_tokens',
  },
  {
    id: 'C40 arguments that are JSON but no object',
    answer: {
      toolCalls: [callOf('[1]', 'a'), callOf('"x"', 'b'), callOf('null', 'c'), callOf(' ', 'd')],
      finishReason: 'tool_calls',
    },
    content: ['[1]', '"x"', 'null', ' '].map((raw, at) => ({
      type: 'tool_use',
      id: 'abcd'[at],
      name: 'f',
      input: { _raw: raw },
    })),
    stop: 'tool_use',
  },
  {
    id: 'C150 NaN in arguments',
    answer: { toolCalls: [callOf('{"a":NaN}')], finishReason: 'tool_calls' },
    content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: { _raw: '{"a":NaN}' } }],
    stop: 'tool_use',
  },
  {
    id: 'C89 reasoning alone, cut by length',
    answer: { reasoning: 'r', finishReason: 'length' },
    content: [{ type: 'thinking', thinking: 'r', signature: sealReasoning('r') }],
    stop: 'max_tokens',
  },
  { id: 'an empty answer', answer: {}, content: [], stop: 'end_turn' },
  { id: 'an empty answer of an empty text', answer: { content: '' }, content: [], stop: 'end_turn' },
  { id: 'C101 a refusal', answer: { refusal: 'no' }, content: [{ type: 'text', text: 'no' }], stop: 'refusal' },
  {
    id: 'content_filter is a refusal',
    answer: { content: 'par', finishReason: 'content_filter' },
    content: [{ type: 'text', text: 'par' }],
    stop: 'refusal',
  },
  {
    id: 'C104 think tags are left alone',
    answer: { content: '<think>r</think>x' },
    content: [{ type: 'text', text: '<think>r</think>x' }],
    stop: 'end_turn',
  },
  {
    id: 'tool_calls without a call',
    answer: { content: 'x', finishReason: 'tool_calls' },
    content: [{ type: 'text', text: 'x' }],
    stop: 'end_turn',
  },
  {
    id: 'C90 abort is nothing that the dialect knows',
    answer: { content: 'x', finishReason: 'abort' },
    content: [{ type: 'text', text: 'x' }],
    stop: 'abort',
  },
];

describe('answers', () => {
  for (const { id, answer, content, stop } of ROWS)
    test(id, () => {
      const served = message(answer);
      assert.deepEqual(served, {
        id: 'chatcmpl-1',
        type: 'message',
        role: 'assistant',
        model: 'asked-model',
        content,
        stop_reason: stop,
        stop_sequence: null,
        stop_details: null,
        usage: { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 },
      });
      assert.equal(render(answer).finishReason, stop);
      assert.equal(render(answer).status, null);
    });
});

test('a stop sequence is named, calls win over it', () => {
  const stopped = message({ content: 'x', stopSequence: 'END' });
  assert.deepEqual([stopped.stop_reason, stopped.stop_sequence], ['stop_sequence', 'END']);
  const called = message({ toolCalls: [callOf('{}')], stopSequence: 'END' });
  assert.deepEqual([called.stop_reason, called.stop_sequence], ['tool_use', null]);
  const cut = message({ content: 'x', stopSequence: 'END', finishReason: 'length' });
  assert.deepEqual([cut.stop_reason, cut.stop_sequence], ['max_tokens', null]);
});

test("the stop string is the engine's, a stop token is none", () => {
  const stop = (reason: string) => {
    const body = `{"id":"i","choices":[{"message":{"content":"x"},"finish_reason":"stop","stop_reason":${reason}}]}`;
    const answer = parseEngineAnswer(json(body), { callId: 'c' });
    assert.ok(!isAnswerProblem(answer));
    return answer.stopSequence;
  };
  assert.deepEqual([stop('"END"'), stop('128001'), stop('null')], ['END', undefined, undefined]);
});

describe('usage', () => {
  const usage = (promptTokens: number, cachedTokens: number, reasoningTokens = 0) =>
    message({ content: 'x', usage: { promptTokens, completionTokens: 5, cachedTokens, reasoningTokens } }).usage;

  test('C93 what came from the cache is apart', () => {
    assert.deepEqual(usage(100, 64), {
      input_tokens: 36,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 64,
      output_tokens: 5,
    });
  });
  test('never below zero', () => {
    assert.deepEqual(usage(10, 64), {
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 10,
      output_tokens: 5,
    });
  });
  test('thinking tokens where the engine counts them', () => {
    assert.deepEqual(usage(10, 0, 3), {
      input_tokens: 10,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 3 },
    });
  });
  test('C92 none given is zeros', () => {
    assert.deepEqual(message({ content: 'x', usage: null }).usage, {
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
    });
  });
});

test("C95 the envelope id: the engine's under capture, msg_ without, the same for the same call", () => {
  assert.equal(message({ content: 'x' }).id, 'chatcmpl-1');
  const plain = message({ content: 'x' }, { captured: false }).id as string;
  assert.match(plain, /^msg_[A-Za-z0-9]{32}$/);
  assert.equal(message({ content: 'y' }, { captured: false }).id, plain);
  assert.notEqual(message({ content: 'x' }, { captured: false, callId: 'other' }).id, plain);
});

test("the model is the one that was asked for, else the engine's", () => {
  assert.equal(message({}).model, 'asked-model');
  const request = convert({ messages: [{ role: 'user', content: 'hi' }] });
  assert.equal(JSON.parse(render({}, {}, request).json.toString()).model, 'engine-model');
});

test('hidden reasoning is not served', () => {
  assert.deepEqual(message({ content: 'x', reasoning: 'r' }, { hideReasoning: true }).content, [
    { type: 'text', text: 'x' },
  ]);
  assert.ok(!streamText({ content: 'x', reasoning: 'r' }, { hideReasoning: true }).includes('thinking'));
});

test('C102, C148, C152 the input is the source text of the arguments', () => {
  const args =
    '{ "id": 2512292042121000001, "x":1.0e4,"10":1,"2":2,"dup":1,"dup":2,"s":"\\ud83d\\u0000\\/" , "n":1e400}';
  const reply = render({ toolCalls: [callOf(` ${args}\n`)], finishReason: 'tool_calls' });
  assert.ok(reply.json.toString('utf8').includes(`"input":${args}}`), reply.json.toString('utf8'));
});

test('a lone surrogate in the arguments is its escape', () => {
  const reply = render({ toolCalls: [callOf('{"a":"\ud83d"}')], finishReason: 'tool_calls' });
  assert.ok(reply.json.toString('utf8').includes('"input":{"a":"\\ud83d"}}'));
});

test('arguments too deep to be echoed are served as text', () => {
  const deep = `{"a":${'['.repeat(600)}${']'.repeat(600)}}`;
  assert.deepEqual(message({ toolCalls: [callOf(deep)] }).content, [
    { type: 'tool_use', id: 'call_1', name: 'f', input: { _raw: deep } },
  ]);
});

test('C106, C107, C115, C116 the events of a reply, in order', () => {
  const stream = events(
    streamText({
      content: 'hi',
      reasoning: 'r',
      toolCalls: [callOf('{"a":1}')],
      finishReason: 'tool_calls',
      usage: { promptTokens: 10, completionTokens: 5, cachedTokens: 4, reasoningTokens: 0 },
    }),
  );
  const usage = { input_tokens: 6, cache_creation_input_tokens: 0, cache_read_input_tokens: 4 };
  const start = {
    id: 'chatcmpl-1',
    type: 'message',
    role: 'assistant',
    model: 'asked-model',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...usage, output_tokens: 0 },
  };
  const delta = (index: number, one: object) => ({ type: 'content_block_delta', index, delta: one });
  assert.deepEqual(
    stream.map(({ data }) => data),
    [
      { type: 'message_start', message: start },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      delta(0, { type: 'thinking_delta', thinking: 'r' }),
      delta(0, { type: 'signature_delta', signature: sealReasoning('r') }),
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      delta(1, { type: 'text_delta', text: 'hi' }),
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
      },
      delta(2, { type: 'input_json_delta', partial_json: '{"a":1}' }),
      { type: 'content_block_stop', index: 2 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null },
        usage: { ...usage, output_tokens: 5 },
      },
      { type: 'message_stop' },
    ],
  );
  for (const { event, data } of stream) assert.equal(event, data.type);
});

test('C113 the stream of an empty answer is complete', () => {
  assert.deepEqual(
    events(streamText({})).map(({ event }) => event),
    ['message_start', 'ping', 'message_delta', 'message_stop'],
  );
});

test('C110 deltas of a long text are its pieces, cut at code points', () => {
  const words = '😀'.repeat(5000);
  const deltas = events(streamText({ content: words })).flatMap(
    ({ data }) => (data.delta as { text?: string })?.text ?? [],
  );
  assert.ok(deltas.length > 10);
  assert.equal(deltas.join(''), words);
  for (const piece of deltas) assert.ok(piece.isWellFormed());
});

describe('output items (protocol section 7)', () => {
  const items = (answer: Partial<EngineAnswer>) =>
    render(answer).outputItems.map((item) => JSON.parse(item.rawText()) as unknown);
  const callItem = (id: string, args: string) => ({
    type: 'function_call',
    id,
    call_id: id,
    name: 'f',
    arguments: args,
    status: 'completed',
  });

  test('one message if there is a text, then one item per call; reasoning gives none', () => {
    assert.deepEqual(items({ content: 'x', reasoning: 'r', toolCalls: [callOf('{ "a": 1 }', 'a'), callOf('', 'b')] }), [
      { type: 'message', id: null, role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
      callItem('a', '{ "a": 1 }'),
      callItem('b', '{}'),
    ]);
  });
  test('no text, no message', () => {
    assert.deepEqual(items({ content: '', reasoning: 'r', toolCalls: [callOf('{bad')] }), [callItem('call_1', '{bad')]);
    assert.deepEqual(items({}), []);
  });
});

describe('the turn that a record adds', () => {
  test('is what an echo of the reply converts to', () => {
    const { turn } = render({ content: 'x', reasoning: 'r', toolCalls: [callOf('{"a": 1}'), callOf('{bad', 'b')] });
    assert.deepEqual(
      turn,
      turnOf({
        content: 'x',
        reasoning: 'r',
        toolCalls: [callOf('{"a": 1}'), callOf('{bad', 'b')],
        echoedIds: ['call_1', 'b'],
      }),
    );
  });
  test('an empty text beside calls is not echoed', () => {
    assert.equal(render({ content: '', toolCalls: [callOf('{}')] }).turn.content, null);
  });
  test('an empty answer is the empty text', () => {
    assert.deepEqual(render({}).turn, turnOf());
  });
  test('a tool with a parameter _raw of its own keeps it', () => {
    const tools = [{ name: 'f', input_schema: { type: 'object', properties: { _raw: { type: 'string' } } } }];
    const request = convert({ messages: [{ role: 'user', content: 'hi' }], tools });
    const answer = { toolCalls: [callOf('{"_raw":"text"}')] };
    assert.equal(render(answer, {}, request).turn.toolCalls[0]?.arguments, '{"_raw":"text"}');
    assert.equal(render(answer).turn.toolCalls[0]?.arguments, 'text');
  });
});

test('the same answer renders to the same bytes', () => {
  const answer = { ...ANSWER, content: 'x', reasoning: 'r', toolCalls: [callOf('{}')] };
  assert.deepEqual(render(answer).json, render(answer).json);
  assert.equal(streamText(answer), streamText(answer));
});
