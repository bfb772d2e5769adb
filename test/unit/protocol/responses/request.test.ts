import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversionOptions } from '../../../../src/protocol/conversation.ts';
import { joinFragments } from '../../../../src/protocol/json/fragment.ts';
import { DEFAULT_UPSTREAM_OPTIONS, upstreamMessage } from '../../../../src/protocol/upstream-body.ts';
import {
  CAPTURED,
  convert,
  field,
  fieldText,
  refuse,
  UNCAPTURED,
  upstream,
} from '../../../support/responses-dialect.ts';
import { fc, fco, said, user } from '../../../support/responses-items.ts';

const body = (more: object = {}) => ({ model: 'm', input: 'q', ...more });

test('settings go up under their Chat names', () => {
  const request = convert(
    '{"model":"m","input":"q","temperature":0.70,"top_p":1e0,"max_output_tokens":100,"parallel_tool_calls":false,"reasoning":{"effort":"low"}}',
  );
  assert.deepEqual(
    [...request.fields.keys()].map((name) => [name, fieldText(request, name)]),
    [
      ['temperature', '0.70'],
      ['top_p', '1e0'],
      ['parallel_tool_calls', 'false'],
      ['max_completion_tokens', '100'],
      ['reasoning_effort', '"low"'],
    ],
  );
  assert.equal(request.model, 'm');
});

test('null settings do not go up', () => {
  const nothing = {
    temperature: null,
    max_output_tokens: null,
    tools: null,
    tool_choice: null,
    text: null,
    reasoning: null,
  };
  assert.deepEqual([...convert(body(nothing)).fields.keys()], []);
});

test("what the engine takes beside the official fields goes up, what is the operator's does not", () => {
  const request = convert(body({ top_k: 5, chat_template_kwargs: { a: 1 }, priority: 9, request_id: 'x', wonder: 1 }));
  assert.deepEqual([...request.fields.keys()], ['top_k', 'chat_template_kwargs']);
  assert.deepEqual(request.ignored, ['wonder']);
});

test('max_output_tokens wins over max_tokens', () => {
  const request = convert(body({ max_tokens: 1, max_output_tokens: 2 }));
  assert.deepEqual([...request.fields.keys()], ['max_completion_tokens']);
  assert.equal(field(convert(body({ max_tokens: 1 })), 'max_tokens'), 1);
});

test('a configuration update replaces the settings of the request, the last one counts', () => {
  const schema = { type: 'json_schema', name: 'n', schema: {} };
  const request = convert(
    body({
      reasoning: { effort: 'low' },
      text: { format: schema },
      input: [
        user('q'),
        { type: 'configuration_update', reasoning: { effort: 'medium' } },
        { type: 'configuration_update', reasoning: { effort: 'high' }, text: { format: { type: 'text' } } },
      ],
    }),
  );
  assert.equal(field(request, 'reasoning_effort'), 'high');
  assert.equal(request.fields.has('response_format'), false);
  assert.equal(request.messages.length, 1);
});

test('stream is read, and wrong types are named', () => {
  assert.equal(convert(body({ stream: true })).stream, true);
  assert.equal(convert(body({ stream: null })).stream, false);
  for (const [param, value] of [
    ['stream', 'yes'],
    ['model', 1],
    ['instructions', ['x']],
    ['input', { role: 'user' }],
    ['input', null],
    ['tools', {}],
    ['tool_choice', []],
    ['temperature', 'hot'],
    ['max_output_tokens', 1.5],
    ['max_output_tokens', 0],
    ['max_tokens', 0],
    ['max_completion_tokens', 0],
    ['reasoning', 'high'],
    ['text', 'json'],
  ] as const)
    assert.equal(refuse(body({ [param]: value })).param, param, param);
  assert.equal(refuse({ model: 'm' }).param, 'input');
  assert.equal(refuse([] as object).message, 'the body must be a JSON object, not an array');
});

for (const [param, value] of [
  ['previous_response_id', 'resp_1'],
  ['conversation', 'conv_1'],
  ['conversation', { id: 'conv_1' }],
  ['background', true],
  ['n', 2],
  ['prompt', { id: 'pmpt_1' }],
  ['moderation', { model: 'x' }],
  ['chat_template', '{{x}}'],
] as const)
  test(`${param} ${JSON.stringify(value)} is refused on every path`, () => {
    for (const options of [CAPTURED, UNCAPTURED]) {
      const refusal = refuse(body({ [param]: value }), options);
      assert.equal(refusal.param, param);
      assert.ok(refusal.message.startsWith(param));
    }
  });

for (const [param, value] of [
  ['truncation', 'auto'],
  ['truncate_prompt_tokens', 5],
  ['continue_final_message', true],
  ['add_generation_prompt', false],
  ['top_logprobs', 1],
  ['logprobs', true],
  ['include', ['message.output_text.logprobs']],
] as const)
  test(`${param} ${JSON.stringify(value)} is refused under capture alone`, () => {
    assert.equal(refuse(body({ [param]: value })).param, param);
    convert(body({ [param]: value }), UNCAPTURED);
  });

test('null and the default of a refused field are no use of it', () => {
  const defaults = {
    previous_response_id: null,
    conversation: null,
    background: false,
    n: 1,
    prompt: null,
    truncation: 'disabled',
    truncate_prompt_tokens: null,
    continue_final_message: false,
    add_generation_prompt: true,
    top_logprobs: 0,
    logprobs: false,
    include: [],
    chat_template: null,
    moderation: null,
  };
  assert.deepEqual([...convert(body(defaults)).fields.keys()], []);
});

test('a history that ends in assistant items is refused under capture', () => {
  for (const end of [[said('a')], [fc('c')], [said('a'), { type: 'web_search_call', id: 'ws' }]]) {
    const request = body({ input: [user('q'), ...end] });
    assert.equal(refuse(request).param, 'input');
    assert.match(refuse(request).message, /prefill/);
    assert.equal(convert(request, UNCAPTURED).messages.at(-1)?.role, 'assistant');
  }
  convert(body({ input: [user('q'), fc('c'), fco('c')] }));
});

test('an input without any message is refused', () => {
  assert.equal(refuse(body({ input: [] })).param, 'input');
  assert.equal(refuse(body({ input: [{ type: 'additional_tools', role: 'developer', tools: [] }] })).param, 'input');
});

test('what an agent must not say is dropped wherever it stands, and counted', () => {
  const request = convert(
    body({
      ng_capture: {},
      return_token_ids: true,
      input: [
        user('q'),
        { ...said('a'), prompt_token_ids: [1], content: [{ type: 'output_text', text: 'a', token_ids: [1] }] },
        user('n'),
      ],
    }),
  );
  assert.deepEqual([...request.stripped].sort(), ['ng_capture', 'prompt_token_ids', 'return_token_ids', 'token_ids']);
  assert.deepEqual([...request.fields.keys()], []);
  assert.equal(request.fingerprintItems[1]?.get('prompt_token_ids'), undefined);
});

test('fingerprint items are the items as they were sent, none for a string', () => {
  const input = '[{"role": "user", "content": "q"},  {"type":"wonder_not" , "role":"user","content":"x"}]';
  const sent = JSON.parse(input).map((item: object) => ({ ...item, type: 'message' }));
  const request = convert(`{"model":"m","input":${JSON.stringify(sent, null, 1)}}`);
  assert.deepEqual(
    request.fingerprintItems.map((item) => item.value()),
    sent,
  );
  assert.deepEqual(convert(body()).fingerprintItems, []);
});

test("texts of users and tools go up in the client's own spelling", () => {
  const text = '"a\\u00e9\\/ \\ud83d"';
  for (const content of [text, `[{"type":"input_text","text":${text}}]`]) {
    const items = `{"role":"user","content":${content}},{"type":"function_call_output","call_id":"c","output":${content}}`;
    const sent = convert(`{"model":"m","input":[${items}]}`).messages.map((message) =>
      joinFragments(upstreamMessage(message, DEFAULT_UPSTREAM_OPTIONS)).toString(),
    );
    assert.deepEqual(sent, [
      `{"role":"user","content":${text}}`,
      `{"role":"tool","content":${text},"tool_call_id":"c"}`,
    ]);
  }
});

test('an assistant turn of a role and one string goes up as it was sent, where it is a turn of its own', () => {
  const plain = '{"role": "assistant", "content":"a\\u0062"}';
  const sent = (items: string) =>
    convert(`{"model":"m","input":[${items}]}`).messages.map((message) =>
      joinFragments(upstreamMessage(message, DEFAULT_UPSTREAM_OPTIONS)).toString(),
    );
  const user = '{"role":"user","content":"q"}';
  assert.deepEqual(sent(`${user},${plain},${user}`), [user, plain, user]);
  const call = '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}';
  const calls = '[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]';
  const output = '{"type":"function_call_output","call_id":"c","output":"o"}';
  assert.deepEqual(sent(`${user},${plain},${call},${output}`), [
    user,
    `{"role":"assistant","content":"ab","tool_calls":${calls}}`,
    '{"role":"tool","content":"o","tool_call_id":"c"}',
  ]);
  const named = '{"role":"assistant","content":"a\\u0062","id":"m"}';
  assert.deepEqual(sent(`${user},${named},${user}`), [user, '{"role":"assistant","content":"ab"}', user]);
});

test('the system message keeps parts where they are alone, and joins them where it is joined', () => {
  const parts = [
    { type: 'input_text', text: 'a' },
    { type: 'input_text', text: 'b' },
  ];
  const developer = { type: 'message', role: 'developer', content: parts };
  const alone = convert(body({ input: [developer, user('q')] }));
  assert.deepEqual(upstream(alone.messages)[0], {
    role: 'system',
    content: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  });
  const joined = convert(body({ instructions: 'I', input: [developer, user('q')] }));
  assert.deepEqual(upstream(joined.messages)[0], { role: 'system', content: 'I\n\na\n\nb' });
});

test('reply context: what is asked for, and by whom', () => {
  const context = (more: object, options: Partial<ConversionOptions> = {}) =>
    convert(body(more), { ...CAPTURED, ...options }).replyContext;
  assert.equal(context({}).encryptedReasoning, false);
  assert.equal(context({ include: ['reasoning.encrypted_content'] }).encryptedReasoning, true);
  assert.equal(context({}, { alwaysEncryptReasoning: true }).encryptedReasoning, true);
  assert.equal(context({}).refusalAsText, false);
  assert.equal(context({}, { userAgent: 'codex_cli_rs/0.125.0' }).refusalAsText, true);
});
