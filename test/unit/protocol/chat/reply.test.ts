import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceOf } from '../../../../src/lineage/evidence.ts';
import { upstreamToChat } from '../../../../src/protocol/chat/upstream-to-chat.ts';
import type { ConvertedRequest, EngineAnswer, ReplyOptions } from '../../../../src/protocol/conversation.ts';
import { anyRequest, convertChat, engineAnswer, REPLY } from '../../../support/chat-conversion.ts';

const CALLS = [
  { id: 'functions.f:0', name: 'f', arguments: '{ "a": 1.0 }' },
  { id: 'c2', name: 'g', arguments: '' },
];

function served(
  answer: Partial<EngineAnswer>,
  options: Partial<ReplyOptions> = {},
  request: ConvertedRequest = anyRequest(),
) {
  const reply = upstreamToChat(request, engineAnswer(answer), { ...REPLY, ...options });
  const completion = JSON.parse(reply.json.toString());
  return { reply, completion, message: completion.choices[0].message };
}

test('a complete object, and nothing else', () => {
  const { completion, reply } = served({
    content: 'hi',
    reasoning: 'think',
    toolCalls: CALLS,
    finishReason: 'tool_calls',
    usage: { promptTokens: 10, completionTokens: 5, cachedTokens: 4, reasoningTokens: 2 },
  });
  assert.deepEqual(completion, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'hi',
          refusal: null,
          reasoning: 'think',
          tool_calls: [
            { id: 'functions.f:0', type: 'function', function: { name: 'f', arguments: '{ "a": 1.0 }' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  });
  assert.equal(reply.responseId, 'chatcmpl-1');
  assert.equal(reply.finishReason, 'tool_calls');
  assert.equal(reply.status, null);
});

const MESSAGES: readonly (readonly [what: string, answer: Partial<EngineAnswer>, message: object])[] = [
  ['an empty answer has the empty text', { content: null }, { content: '', refusal: null }],
  ['an empty text stays', { content: '' }, { content: '', refusal: null }],
  [
    'calls with null keep null',
    { content: null, toolCalls: CALLS.slice(1) },
    {
      content: null,
      refusal: null,
      tool_calls: [{ id: 'c2', type: 'function', function: { name: 'g', arguments: '' } }],
    },
  ],
  [
    'calls with "" keep ""',
    { content: '', toolCalls: CALLS.slice(1) },
    {
      content: '',
      refusal: null,
      tool_calls: [{ id: 'c2', type: 'function', function: { name: 'g', arguments: '' } }],
    },
  ],
  ['a refusal', { content: null, refusal: 'no' }, { content: null, refusal: 'no' }],
  [
    'reasoning only',
    { content: null, reasoning: 'r', finishReason: 'length' },
    { content: '', refusal: null, reasoning: 'r' },
  ],
  ['a lone surrogate', { content: '\ud83d' }, { content: '\ud83d', refusal: null }],
];
for (const [what, answer, message] of MESSAGES)
  test(what, () => {
    assert.deepEqual(served(answer).message, { role: 'assistant', ...message });
  });

test('reasoning under the configured names, or none of it', () => {
  const answer = { content: 'x', reasoning: 'r' };
  assert.deepEqual(Object.keys(served(answer, { chatReasoningKey: 'reasoning_content' }).message), [
    'role',
    'content',
    'refusal',
    'reasoning_content',
  ]);
  const both = served(answer, { chatReasoningKey: 'both' }).message;
  assert.deepEqual([both.reasoning, both.reasoning_content], ['r', 'r']);
  const hidden = served(answer, { hideReasoning: true });
  assert.deepEqual(Object.keys(hidden.message), ['role', 'content', 'refusal']);
  assert.equal(hidden.reply.turn.reasoning, null);
});

test('usage is there and whole also where the engine said nothing', () => {
  assert.deepEqual(served({ usage: null }).completion.usage, {
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  });
});

test('the model is the asked one, else that of the engine', () => {
  assert.equal(served({}).completion.model, 'm');
  assert.equal(
    served({}, {}, convertChat({ messages: [{ role: 'user', content: 'q' }] })).completion.model,
    'engine-model',
  );
});

test('a lone surrogate leaves as an escape, in valid UTF-8', () => {
  const { reply } = served({ content: 'a\ud83d' });
  assert.ok(reply.json.includes('"content":"a\\ud83d"'));
});

const ITEMS: readonly (readonly [what: string, answer: Partial<EngineAnswer>, items: readonly object[]])[] = [
  [
    'text',
    { content: 'x', reasoning: 'r' },
    [{ type: 'message', id: null, role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }],
  ],
  ['no text', { content: '' }, []],
  ['nothing', { content: null }, []],
  [
    'text and calls',
    { content: 'x', toolCalls: CALLS },
    [
      { type: 'message', id: null, role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
      { type: 'function_call', id: 'functions.f:0', call_id: 'functions.f:0', name: 'f', arguments: '{ "a": 1.0 }' },
      { type: 'function_call', id: 'c2', call_id: 'c2', name: 'g', arguments: '' },
    ],
  ],
  [
    'calls',
    { content: null, toolCalls: CALLS.slice(1) },
    [{ type: 'function_call', id: 'c2', call_id: 'c2', name: 'g', arguments: '' }],
  ],
];
for (const [what, answer, items] of ITEMS)
  test(`what the reply counts as: ${what}`, () => {
    assert.deepEqual(
      served(answer).reply.outputItems.map((item) => item.value()),
      items,
    );
  });

test('a custom call is served as one, and counts as the function call that it was made from', () => {
  const request = anyRequest({ tools: [{ type: 'custom', custom: { name: 'exec' } }] });
  const call = { id: 'c1', name: 'exec', arguments: '{ "input": "ls\\n" }' };
  const { message, reply } = served({ content: null, toolCalls: [call] }, {}, request);
  assert.deepEqual(message.tool_calls, [{ id: 'c1', type: 'custom', custom: { name: 'exec', input: 'ls\n' } }]);
  assert.deepEqual(reply.outputItems[0]?.value(), {
    type: 'function_call',
    id: 'c1',
    call_id: 'c1',
    name: 'exec',
    arguments: '{"input":"ls\\n"}',
  });
  assert.deepEqual(reply.turn.toolCalls, [{ id: 'c1', name: 'exec', arguments: '{"input":"ls\\n"}' }]);
});

const ECHOED: readonly Partial<EngineAnswer>[] = [
  { content: 'x' },
  { content: null },
  { content: '' },
  { content: ' x\n', reasoning: ' r\n' },
  { content: null, toolCalls: CALLS },
  { content: '', toolCalls: CALLS, reasoning: 'r' },
  { content: null, toolCalls: [{ id: 'c', name: 'f', arguments: '{"cmd": "ec' }], finishReason: 'length' },
  { content: null, refusal: 'no' },
];
for (const answer of ECHOED)
  for (const chatReasoningKey of ['reasoning', 'reasoning_content', 'both'] as const)
    test(`the turn is that of an echo: ${JSON.stringify(answer)}, ${chatReasoningKey}`, () => {
      const { message, reply } = served(answer, { chatReasoningKey });
      const echoed = convertChat({ messages: [message, { role: 'user', content: 'go on' }] }).messages[0];
      assert.ok(echoed?.role === 'assistant');
      assert.deepEqual(evidenceOf(reply.turn, 'required'), evidenceOf(echoed, 'required'));
      assert.deepEqual(
        reply.turn.echoedIds,
        (answer.toolCalls ?? []).map((call) => call.id),
      );
    });
