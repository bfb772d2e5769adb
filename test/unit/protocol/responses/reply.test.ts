import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyRequest, convert, engineAnswer, REPLY, render, served } from '../../../support/responses-dialect.ts';

test('a response is complete: every member that strict clients want, and no other', () => {
  const response = served(anyRequest());
  assert.deepEqual(response, {
    id: 'chatcmpl-1',
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    model: 'm',
    output: [
      {
        id: response.output[0]?.id,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'hello', annotations: [], logprobs: [] }],
      },
    ],
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: null,
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: null,
    truncation: 'disabled',
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    },
    user: null,
  });
});

test('a response repeats its request, byte for byte', () => {
  const members = {
    instructions: '"be \\u00e9"',
    max_output_tokens: '64',
    max_tool_calls: '3',
    metadata: '{"10":"a","2":"b"}',
    parallel_tool_calls: 'false',
    prompt_cache_key: '"k"',
    prompt_cache_retention: '"24h"',
    reasoning: '{"effort":"high","summary":"auto"}',
    safety_identifier: '"s"',
    service_tier: '"flex"',
    store: 'true',
    temperature: '0.70',
    text: '{"format":{"type":"json_object"},"verbosity":"low"}',
    tool_choice: '"required"',
    tools: '[{"type":"function","name":"f","parameters":{"minimum":1.0}}]',
    top_p: '1e0',
    user: '"u"',
  };
  const body = Object.entries(members).map(([name, value]) => `"${name}":${value}`);
  const request = convert(`{"model":"m","input":"q",${body.join(',')}}`);
  const json = render(request).json.toString();
  for (const [name, value] of Object.entries(members)) assert.ok(json.includes(`"${name}":${value}`), name);
});

test('text names its format also where the request does not', () => {
  assert.deepEqual(served(anyRequest({ text: { verbosity: 'low' } })).text, {
    format: { type: 'text' },
    verbosity: 'low',
  });
});

test('the model is the one that was asked for, else the one of the engine', () => {
  assert.equal(served(anyRequest()).model, 'm');
  assert.equal(served(convert({ input: 'q' })).model, 'engine-model');
});

test('the same call renders the same bytes', () => {
  const answer = engineAnswer({ reasoning: 'r', toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] });
  assert.deepEqual(render(anyRequest(), answer).json, render(anyRequest(), answer).json);
  assert.notDeepEqual(
    render(anyRequest(), answer).json,
    render(anyRequest(), answer, { ...REPLY, callId: 'other' }).json,
  );
});

test('the rendered items are those of the object', () => {
  const answer = { reasoning: 'r', toolCalls: [{ id: 'c', name: 'f', arguments: '{"a":1.0}' }] };
  const reply = render(anyRequest(), answer);
  assert.deepEqual(
    reply.outputItems.map((item) => item.value()),
    JSON.parse(reply.json.toString()).output,
  );
  assert.deepEqual([reply.status, reply.finishReason, reply.responseId], ['completed', null, 'chatcmpl-1']);
});

test('nothing of the engine but its answer is in a reply', () => {
  const answer = { ...engineAnswer(), prompt_token_ids: [1], logprobs: {}, ng_commit_coords: {} };
  const json = render(anyRequest(), answer).json.toString();
  for (const name of ['prompt_token_ids', 'ng_commit_coords', 'token_ids']) assert.equal(json.includes(name), false);
});
