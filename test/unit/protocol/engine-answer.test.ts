import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EngineAnswer } from '../../../src/protocol/conversation.ts';
import {
  ENGINE_SKIP,
  engineAnswerFromJson,
  engineAnswerToJson,
  isAnswerProblem,
  parseEngineAnswer,
} from '../../../src/protocol/engine-answer.ts';
import { isJsonProblem, parseJsonText } from '../../../src/protocol/json/parse-json.ts';
import { engineAnswer } from '../../support/chat-conversion.ts';

const CALL_ID = 'f'.repeat(32);

function parse(completion: string): EngineAnswer | { problem: string } {
  const node = parseJsonText(completion, { skip: ENGINE_SKIP });
  assert.ok(!isJsonProblem(node));
  return parseEngineAnswer(node, { callId: CALL_ID });
}

/** A completion with this message (JSON text of its members) and finish reason. */
function answered(message: string, finishReason = '"stop"'): EngineAnswer {
  const answer = parse(
    `{"id":"chatcmpl-9","model":"m","created":1700000000,"choices":[{"index":0,"message":{"role":"assistant",${message}},"finish_reason":${finishReason}}]}`,
  );
  assert.ok(!isAnswerProblem(answer), JSON.stringify(answer));
  return answer;
}

test('a complete answer', () => {
  const answer = parse(
    JSON.stringify({
      id: 'chatcmpl-9',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'hi',
            reasoning: 'think',
            tool_calls: [{ id: 'functions.f:0', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } }],
            prompt_token_ids: [1, 2],
          },
          logprobs: { content: [{ token: 'token_id:1' }] },
          token_ids: [1],
          finish_reason: 'tool_calls',
          stop_reason: 151_645,
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      prompt_token_ids: [1, 2, 3],
      ng_commit_coords: { a: 1 },
    }),
  );
  assert.deepEqual(answer, {
    id: 'chatcmpl-9',
    model: 'm',
    createdS: 1_700_000_000,
    content: 'hi',
    reasoning: 'think',
    refusal: null,
    toolCalls: [{ id: 'functions.f:0', name: 'f', arguments: '{"a": 1}' }],
    finishReason: 'tool_calls',
    usage: { promptTokens: 10, completionTokens: 5, cachedTokens: 4, reasoningTokens: 2 },
  });
});

const CONTENTS: readonly (readonly [message: string, content: string | null])[] = [
  ['"content":"a"', 'a'],
  ['"content":""', ''],
  ['"content":null', null],
  ['"tool_calls":null', null],
  ['"content":[]', null],
  ['"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]', 'ab'],
  ['"content":["a",{"type":"output_text","text":"b"}]', 'ab'],
  ['"content":"\\ud83d"', '\ud83d'],
  ['"content":"<think>r</think>x"', '<think>r</think>x'],
];
for (const [message, content] of CONTENTS)
  test(`content of {${message}}`, () => {
    assert.equal(answered(message).content, content);
  });

const REASONINGS: readonly (readonly [message: string, reasoning: string | null])[] = [
  ['"reasoning":" r\\n"', ' r\n'],
  ['"reasoning_content":"r"', 'r'],
  ['"reasoning":"r","reasoning_content":"r"', 'r'],
  ['"reasoning":"","reasoning_content":"r"', 'r'],
  ['"reasoning":null,"reasoning_content":"r"', 'r'],
  ['"reasoning":"a","reasoning_content":"b"', 'a'],
  ['"reasoning":" \\n\\t"', null],
  ['"reasoning":""', null],
  ['"reasoning":null', null],
  ['"content":"x"', null],
];
for (const [message, reasoning] of REASONINGS)
  test(`reasoning of {${message}}`, () => {
    assert.equal(answered(message).reasoning, reasoning);
  });

const CALLS: readonly (readonly [message: string, calls: EngineAnswer['toolCalls']])[] = [
  ['"tool_calls":[]', []],
  ['"tool_calls":null', []],
  [
    '"tool_calls":[{"id":"a","function":{"name":"f","arguments":{ "b" : 1.0, "b":2 }}}]',
    [{ id: 'a', name: 'f', arguments: '{ "b" : 1.0, "b":2 }' }],
  ],
  ['"tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]', [{ id: 'a', name: 'f', arguments: '' }]],
  ['"tool_calls":[{"id":"a","function":{"name":"f","arguments":null}}]', [{ id: 'a', name: 'f', arguments: '{}' }]],
  ['"tool_calls":[{"id":"a","function":{"name":"f"}}]', [{ id: 'a', name: 'f', arguments: '{}' }]],
  ['"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{bad"}}]', [{ id: 'a', name: 'f', arguments: '{bad' }]],
  [
    '"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\\"x\\": NaN}"}}]',
    [{ id: 'a', name: 'f', arguments: '{"x": NaN}' }],
  ],
];
for (const [message, calls] of CALLS)
  test(`calls of {${message}}`, () => {
    assert.deepEqual(answered(message).toolCalls, calls);
  });

test('ids are made where the engine sent none, the same ones every time, each its own', () => {
  const message =
    '"tool_calls":[{"function":{"name":"f"}},{"id":null,"function":{"name":"f"}},{"id":"","function":{"name":"g"}}]';
  const ids = answered(message).toolCalls.map((call) => call.id);
  for (const id of ids) assert.match(id, /^call_[A-Za-z0-9]{32}$/);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(
    answered(message).toolCalls.map((call) => call.id),
    ids,
  );
});

test('the legacy function_call is a call', () => {
  const answer = answered('"content":null,"function_call":{"name":"f","arguments":"{}"}', '"function_call"');
  assert.equal(answer.finishReason, 'tool_calls');
  assert.deepEqual(
    answer.toolCalls.map(({ name, arguments: args }) => [name, args]),
    [['f', '{}']],
  );
  assert.deepEqual(answered('"content":"x","function_call":null').toolCalls, []);
});

const CALL = '"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]';
const FINISHES: readonly (readonly [message: string, said: string, finishReason: string])[] = [
  ['"content":"x"', '"stop"', 'stop'],
  ['"content":"x"', '"length"', 'length'],
  ['"content":"x"', 'null', 'stop'],
  ['"content":null', 'null', 'stop'],
  [CALL, 'null', 'tool_calls'],
  [CALL, '"stop"', 'stop'],
  [CALL, '"length"', 'length'],
  ['"content":"x"', '"abort"', 'abort'],
  ['"content":"x"', '"content_filter"', 'content_filter'],
  ['"content":"x"', '"other"', 'other'],
];
for (const [message, said, finishReason] of FINISHES)
  test(`finish reason ${said} with {${message}} is ${finishReason}`, () => {
    assert.equal(answered(message, said).finishReason, finishReason);
  });

test('a refusal, as a member or as a part', () => {
  assert.equal(answered('"content":null,"refusal":"no"').refusal, 'no');
  assert.equal(answered('"content":"x","refusal":""').refusal, null);
  const parts = answered('"content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"no"}]');
  assert.deepEqual([parts.content, parts.refusal], ['a', 'no']);
});

const USAGES: readonly (readonly [usage: string, wanted: EngineAnswer['usage']])[] = [
  ['null', null],
  ['{}', { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 }],
  [
    '{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":null}',
    { promptTokens: 10, completionTokens: 5, cachedTokens: 0, reasoningTokens: 0 },
  ],
  [
    '{"prompt_tokens":null,"completion_tokens":"5","prompt_tokens_details":{"cached_tokens":null}}',
    { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
  ],
];
for (const [usage, wanted] of USAGES)
  test(`usage ${usage}`, () => {
    const answer = parse(`{"id":"x","choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":${usage}}`);
    assert.ok(!isAnswerProblem(answer));
    assert.deepEqual(answer.usage, wanted);
  });

const PROBLEMS: readonly (readonly [completion: string, problem: string])[] = [
  ['[]', 'the answer is an array, not an object'],
  ['{"choices":[{"message":{"content":"a"}}]}', 'the answer has no id'],
  ['{"id":"","choices":[{"message":{"content":"a"}}]}', 'the answer has no id'],
  ['{"id":7,"choices":[{"message":{"content":"a"}}]}', 'the answer has no id'],
  ['{"id":"x"}', 'the answer has no choice with a message'],
  ['{"id":"x","choices":[]}', 'the answer has no choice with a message'],
  ['{"id":"x","choices":{}}', 'the answer has no choice with a message'],
  ['{"id":"x","choices":[{"message":null}]}', 'the answer has no choice with a message'],
  ['{"id":"x","choices":[{"message":"a"}]}', 'the answer has no choice with a message'],
  ['{"id":"x","choices":[{"message":{"content":5}}]}', 'message.content is a number'],
  ['{"id":"x","choices":[{"message":{"content":[{"type":"image_url"}]}}]}', 'a part of message.content is no text'],
  ['{"id":"x","choices":[{"message":{"reasoning":{}}}]}', 'message.reasoning is an object'],
  ['{"id":"x","choices":[{"message":{"tool_calls":{}}}]}', 'message.tool_calls is an object'],
  ['{"id":"x","choices":[{"message":{"tool_calls":[{"id":"a"}]}}]}', 'a tool call names no function'],
  ['{"id":"x","choices":[{"message":{"tool_calls":[null]}}]}', 'a tool call names no function'],
  ['{"id":"x","choices":[{"message":{"tool_calls":[{"function":{"name":""}}]}}]}', 'a tool call names no function'],
];
for (const [completion, problem] of PROBLEMS)
  test(`unusable: ${completion}`, () => {
    assert.deepEqual(parse(completion), { problem });
  });

test('a missing model or creation time is no problem', () => {
  const answer = parse('{"id":"x","choices":[{"message":{"content":"a"}}],"created":1e999}');
  assert.ok(!isAnswerProblem(answer));
  assert.deepEqual([answer.model, answer.createdS], ['', 0]);
});

test('an answer that was kept comes back as it was', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\ud83d', '\u2028', '\0', '"'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(text, fc.option(text), text, (content, reasoning, args) => {
      const answer = engineAnswer({
        content,
        reasoning,
        toolCalls: [{ id: 'a', name: 'f', arguments: args }],
        usage: null,
      });
      assert.deepEqual(engineAnswerFromJson(engineAnswerToJson(answer)), answer);
    }),
  );
});
