import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chat } from '../../../src/protocol/chat/index.ts';
import type { EngineAnswer } from '../../../src/protocol/conversation.ts';
import { ENGINE_SKIP, isAnswerProblem, parseEngineAnswer } from '../../../src/protocol/engine-answer.ts';
import { isJsonProblem, parseJsonText } from '../../../src/protocol/json/parse-json.ts';
import { accumulateChat } from '../../support/chat-client.ts';
import { anyRequest, engineAnswer, REPLY } from '../../support/chat-conversion.ts';

/** The public cases of answers and streams (6.D, 6.E) as far as the Chat dialect and the shared reader of answers are concerned. */

function read(message: string, finishReason = '"stop"', more = ''): EngineAnswer {
  const node = parseJsonText(`{"id":"x","choices":[{"message":${message},"finish_reason":${finishReason}}]${more}}`, {
    skip: ENGINE_SKIP,
  });
  assert.ok(!isJsonProblem(node));
  const answer = parseEngineAnswer(node, { callId: 'a'.repeat(32) });
  assert.ok(!isAnswerProblem(answer), JSON.stringify(answer));
  return answer;
}

/** The completion that an agent gets for a message of the engine. */
function served(message: string, finishReason = '"stop"', more = '') {
  return JSON.parse(chat.render(anyRequest(), read(message, finishReason, more), REPLY).json.toString());
}

const CALLS = (ids: readonly string[], args = '"{}"') =>
  `"tool_calls":[${ids.map((id) => `{"id":${JSON.stringify(id)},"function":{"name":"f","arguments":${args}}}`).join(',')}]`;

const MESSAGES: readonly (readonly [id: string, message: string, finishReason: string, wanted: object])[] = [
  ['C80a null beside calls', `{"content":null,${CALLS(['c'])}}`, '"tool_calls"', { content: null }],
  ['C81a "" beside calls', `{"content":"",${CALLS(['c'])}}`, '"tool_calls"', { content: '' }],
  ['C83a reasoning', '{"content":"x","reasoning":"r"}', '"stop"', { content: 'x', reasoning: 'r' }],
  ['C83a reasoning_content', '{"content":"x","reasoning_content":"r"}', '"stop"', { content: 'x', reasoning: 'r' }],
  ['C83a both', '{"content":"x","reasoning":"r","reasoning_content":"r"}', '"stop"', { content: 'x', reasoning: 'r' }],
  ['C83a neither', '{"content":"x","reasoning":"","reasoning_content":null}', '"stop"', { content: 'x' }],
  ['C89a reasoning only, cut', '{"content":null,"reasoning":"r"}', '"length"', { content: '', reasoning: 'r' }],
  ['C101a a refusal', '{"content":null,"refusal":"no"}', '"stop"', { content: null, refusal: 'no' }],
  ['C104 think tags', '{"content":"<think>r</think>x"}', '"stop"', { content: '<think>r</think>x' }],
];

describe('answers', () => {
  for (const [id, message, finishReason, wanted] of MESSAGES)
    test(id, () => {
      const { tool_calls: _, ...rest } = served(message, finishReason).choices[0].message;
      assert.deepEqual(rest, { role: 'assistant', refusal: null, ...wanted });
    });

  for (const [id, message, said, wanted] of [
    ['C86a length', '{"content":"x"}', '"length"', 'length'],
    ['C88a length inside arguments', `{"content":null,${CALLS(['c'], '"{\\"cmd\\": \\"ec"')}}`, '"length"', 'length'],
    ['C90 null with calls', `{"content":null,${CALLS(['c'])}}`, 'null', 'tool_calls'],
    ['C90 null with text', '{"content":"x"}', 'null', 'stop'],
    ['C90a a filtered answer', '{"content":"x"}', '"content_filter"', 'content_filter'],
  ] as const)
    test(`${id}: finish reason ${wanted}`, () => {
      assert.equal(served(message, said).choices[0].finish_reason, wanted);
    });

  test('C90 abort and error are left for the call to judge', () => {
    assert.equal(read('{"content":"x"}', '"abort"').finishReason, 'abort');
    assert.equal(read('{"content":"x"}', '"error"').finishReason, 'error');
  });

  test('C92a usage has integers everywhere', () => {
    const usage = served(
      '{"content":"x"}',
      '"stop"',
      ',"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":null}',
    ).usage;
    assert.deepEqual(usage, {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
  });

  test('C96, C97 ids of the engine verbatim, also the same one twice', () => {
    const ids = ['functions.list_dir:0', 'list_dir:0', 'list_dir:0', 'call_weird/id.1'];
    assert.deepEqual(
      served(`{${CALLS(ids)}}`).choices[0].message.tool_calls.map((call: { id: string }) => call.id),
      ids,
    );
  });

  test('C102 arguments as an object: its source text', () => {
    const [call] = served(`{${CALLS(['c'], '{"n": 12345678901234567890, "a":1, "a":1.0e2}')}}`).choices[0].message
      .tool_calls;
    assert.equal(call.function.arguments, '{"n": 12345678901234567890, "a":1, "a":1.0e2}');
  });

  test('C105 message and call are one choice', () => {
    const { choices } = served(`{"content":"x",${CALLS(['c'])}}`, '"tool_calls"');
    assert.equal(choices.length, 1);
    assert.deepEqual([choices[0].message.content, choices[0].message.tool_calls.length], ['x', 1]);
  });
});

describe('streams', () => {
  const streamed = (answer: Partial<EngineAnswer>) => {
    const request = anyRequest({ stream: true });
    const full = engineAnswer(answer);
    return chat.stream(request, full, chat.render(request, full, REPLY), REPLY);
  };

  test('C94a, C120a every chunk has the id of the reply', () => {
    const ids = streamed({ content: 'x', reasoning: 'r' })
      .toString()
      .match(/"id":"[^"]*"/g);
    assert.deepEqual(new Set(ids), new Set(['"id":"chatcmpl-1"']));
  });

  test('C110, C88 arguments are the exact concatenation, broken ones too', async () => {
    const broken = `{"cmd": "${'é😀'.repeat(200)}`;
    const { completion } = await accumulateChat(
      streamed({ content: null, toolCalls: [{ id: 'c', name: 'f', arguments: broken }], finishReason: 'length' }),
    );
    const [call] = completion.choices[0]?.message.tool_calls ?? [];
    assert.equal(call?.type === 'function' ? call.function.arguments : null, broken);
  });

  test('C111 parallel calls by index, id and name once', async () => {
    const toolCalls = ['a', 'b'].map((id) => ({ id, name: `f${id}`, arguments: 'x'.repeat(200) }));
    const bytes = streamed({ content: null, toolCalls });
    assert.equal(bytes.toString().match(/"name":"fa"/g)?.length, 1);
    const { completion } = await accumulateChat(bytes);
    assert.deepEqual(
      completion.choices[0]?.message.tool_calls?.map((call) => call.id),
      ['a', 'b'],
    );
  });

  test('C113 an empty answer is no empty stream', async () => {
    const { completion } = await accumulateChat(streamed({ content: null }));
    assert.equal(completion.choices[0]?.finish_reason, 'stop');
  });

  test('C117 finish chunk, then the end; usage only where it was asked for', () => {
    const frames = streamed({}).toString().trimEnd().split('\n\n');
    assert.match(frames.at(-2) ?? '', /"delta":\{\},"logprobs":null,"finish_reason":"stop"/);
    assert.equal(frames.at(-1), 'data: [DONE]');
    assert.ok(!frames.some((frame) => frame.includes('usage')));
  });
});
