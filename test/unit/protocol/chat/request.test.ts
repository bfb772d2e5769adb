import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Body,
  CAPTURED,
  convertChat,
  refuseChat,
  UNCAPTURED,
  upstreamText,
} from '../../../support/chat-conversion.ts';

const MESSAGES = [{ role: 'user', content: 'q' }];

test('what the steps of a call need to know', () => {
  const request = convertChat({
    model: 'policy',
    messages: MESSAGES,
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: 'function', function: { name: 'f' } }],
    ng_capture: { evil: true },
    wonder: 1,
    temperature: null,
  });
  assert.equal(request.dialect, 'chat');
  assert.equal(request.model, 'policy');
  assert.equal(request.stream, true);
  assert.equal(request.includeUsage, true);
  assert.deepEqual(request.stripped, ['ng_capture']);
  assert.deepEqual(request.ignored, ['wonder']);
  assert.deepEqual([...request.fields.keys()], ['tools']);
});

test('without any of it', () => {
  const request = convertChat({ messages: MESSAGES, stream: null, stream_options: null });
  assert.deepEqual([request.model, request.stream, request.includeUsage, request.ignored], [null, false, false, []]);
});

test('fingerprints are taken over the messages as the agent sent them, without what it must not say', () => {
  const request = convertChat(
    '{"messages":[{"role":"developer","content":[{"type":"text","text":"a"}]},{"role":"user","content":"q","prompt_token_ids":[1]}]}',
  );
  assert.deepEqual(
    request.fingerprintItems.map((item) => item.rawText()),
    ['{"role":"developer","content":[{"type":"text","text":"a"}]}', '{"role":"user","content":"q"}'],
  );
});

const REFUSED: readonly (readonly [param: string, members: object])[] = [
  ['model', { model: 5 }],
  ['stream', { stream: 'true' }],
  ['stream_options', { stream_options: true }],
  ['stream_options.include_usage', { stream_options: { include_usage: 1 } }],
  ['temperature', { temperature: 'hot' }],
  ['max_tokens', { max_tokens: 1.5 }],
  ['max_tokens', { max_tokens: 0 }],
  ['max_tokens', { max_tokens: -1 }],
  ['max_completion_tokens', { max_completion_tokens: 0 }],
  ['stop', { stop: [1] }],
  ['response_format', { response_format: 'json' }],
  ['reasoning_effort', { reasoning_effort: { effort: 'high' } }],
  ['functions', { functions: [{ name: 'f' }] }],
  ['function_call', { function_call: { name: 'f' } }],
  ['audio', { audio: { voice: 'x', format: 'wav' } }],
  ['modalities', { modalities: ['text', 'audio'] }],
  ['moderation', { moderation: { model: 'm' } }],
  ['web_search_options', { web_search_options: {} }],
  ['previous_response_id', { previous_response_id: 'resp_1' }],
  ['n', { n: 2 }],
];
for (const [param, members] of REFUSED)
  test(`refused by name: ${JSON.stringify(members)}`, () => {
    const refusal = refuseChat({ messages: MESSAGES, ...members });
    assert.equal(refusal.param, param);
    assert.ok(refusal.message.startsWith(`${param}: `), refusal.message);
  });

const NO_USE: readonly object[] = [
  { functions: null, function_call: null, audio: null, modalities: null, moderation: null, web_search_options: null },
  { functions: [], function_call: 'none', modalities: ['text'] },
  { function_call: 'auto', modalities: [] },
  { n: 1, logprobs: false, top_logprobs: 0, best_of: 1 },
];
for (const members of NO_USE)
  test(`no use of anything: ${JSON.stringify(members)}`, () => {
    assert.equal(
      upstreamText(convertChat({ messages: MESSAGES, ...members })),
      upstreamText(convertChat({ messages: MESSAGES })),
    );
  });

test('several answers and log probabilities go up without capture', () => {
  const body: Body = '{"messages":[{"role":"user","content":"q"}],"n":2,"logprobs":true,"top_logprobs":3}';
  assert.equal(upstreamText(convertChat(body, UNCAPTURED)), body);
});

test('a chat template goes up where configuration allows it', () => {
  const body: Body =
    '{"messages":[{"role":"user","content":"q"}],"chat_template":"{{x}}","chat_template_kwargs":{"a":1.0}}';
  assert.equal(refuseChat(body).param, 'chat_template');
  assert.equal(upstreamText(convertChat(body, { ...CAPTURED, allowChatTemplate: true })).length, body.length);
});

test('what an agent must not say is dropped before it could be refused or counted as unknown', () => {
  const request = convertChat({
    messages: MESSAGES,
    return_token_ids: true,
    prompt_logprobs: 5,
    offload_params: {},
    required_prefix_token_ids: [1],
  });
  assert.equal(upstreamText(request), '{"messages":[{"role":"user","content":"q"}]}');
  assert.deepEqual(request.ignored, []);
  assert.equal(request.stripped.length, 4);
});
