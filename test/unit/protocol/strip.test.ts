import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripRequest } from '../../../src/protocol/strip.ts';
import { json } from '../../support/chat-conversion.ts';

test('a body without such members comes back as the very node', () => {
  const body = json('{"model": "m", "messages": [ {"role":"user","content":"a"} ], "n": 1.0}');
  const { body: kept, stripped } = stripRequest(body);
  assert.equal(kept, body);
  assert.deepEqual(stripped, []);
});

test('every name of the list is dropped at the top level, and counted', () => {
  const names = [
    'ng_capture',
    'ng_commit_coords',
    'required_prefix_token_ids',
    'offload_params',
    'return_token_ids',
    'return_tokens_as_token_ids',
    'prompt_logprobs',
    'prompt_token_ids',
  ];
  const body = json(`{"model":"m",${names.map((name) => `"${name}":{"a":[1]}`).join(',')},"temperature":1.50}`);
  const { body: kept, stripped } = stripRequest(body);
  assert.equal(kept.rawText(), '{"model":"m","temperature":1.50}');
  assert.deepEqual(stripped, names);
});

const NESTED: readonly (readonly [where: string, before: string, after: string, stripped: readonly string[]])[] = [
  [
    'a Chat message',
    '{"messages":[{"role":"assistant","content":"x","prompt_token_ids":[1,2],"generation_token_ids":[3],"generation_log_probs":[-0.5],"routed_experts":null,"predecessor_tail_route":{},"compact_prompt_token_ids":""}]}',
    '{"messages":[{"role":"assistant","content":"x"}]}',
    [
      'prompt_token_ids',
      'generation_token_ids',
      'generation_log_probs',
      'routed_experts',
      'predecessor_tail_route',
      'compact_prompt_token_ids',
    ],
  ],
  [
    'a content part',
    '{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b","token_ids":[1]}]}]}',
    '{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}',
    ['token_ids'],
  ],
  [
    'a tool call and its function',
    '{"messages":[{"tool_calls":[{"id":"c","ng_capture":1,"function":{"name":"f","token_ids":[]}}]}]}',
    '{"messages":[{"tool_calls":[{"id":"c","function":{"name":"f"}}]}]}',
    ['ng_capture', 'token_ids'],
  ],
  [
    'a Responses item and its parts',
    '{"input":[{"type":"message","content":[{"type":"output_text","text":"x","prompt_token_ids":[]}],"generation_token_ids":[1]}]}',
    '{"input":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}',
    ['prompt_token_ids', 'generation_token_ids'],
  ],
  [
    'a tool output and a summary',
    '{"input":[{"type":"function_call_output","output":[{"type":"input_text","text":"x","token_ids":1}]},{"type":"reasoning","summary":[{"text":"t","token_ids":1}]}]}',
    '{"input":[{"type":"function_call_output","output":[{"type":"input_text","text":"x"}]},{"type":"reasoning","summary":[{"text":"t"}]}]}',
    ['token_ids', 'token_ids'],
  ],
  [
    'items of a body that says that it has a type',
    '{"type":"function_call","input":[{"role":"user","token_ids":[1]}]}',
    '{"type":"function_call","input":[{"role":"user"}]}',
    ['token_ids'],
  ],
  [
    'a custom call',
    '{"messages":[{"tool_calls":[{"type":"custom","custom":{"name":"f","input":"x","token_ids":1}}]}]}',
    '{"messages":[{"tool_calls":[{"type":"custom","custom":{"name":"f","input":"x"}}]}]}',
    ['token_ids'],
  ],
  [
    'blocks inside a tool result',
    '{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"x","routed_experts":1}]}]}]}',
    '{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"x"}]}]}]}',
    ['routed_experts'],
  ],
];

for (const [where, before, after, stripped] of NESTED)
  test(`dropped inside ${where}`, () => {
    const result = stripRequest(json(before));
    assert.equal(result.body.rawText(), after);
    assert.deepEqual(result.stripped, stripped);
  });

const KEPT: readonly (readonly [what: string, body: string])[] = [
  ['the schema of a tool', '{"tools":[{"function":{"parameters":{"properties":{"prompt_token_ids":{}}}}}]}'],
  ['arguments that are an object', '{"messages":[{"tool_calls":[{"function":{"arguments":{"token_ids":[1]}}}]}]}'],
  ['the input of a tool_use block', '{"messages":[{"content":[{"type":"tool_use","input":{"token_ids":[1]}}]}]}'],
  [
    'a list inside the input of a tool_use block',
    '{"messages":[{"content":[{"type":"tool_use","input":[{"token_ids":1}]}]}]}',
  ],
  ['metadata', '{"metadata":{"ng_capture":"x"}}'],
  [
    'log probabilities, which are refused or ignored where they matter',
    '{"logprobs":true,"messages":[{"logprobs":null}]}',
  ],
];

for (const [what, body] of KEPT)
  test(`left alone: ${what}`, () => {
    assert.deepEqual(stripRequest(json(body)).stripped, []);
  });

test('what stays keeps its bytes: numbers, escapes, order, duplicates', () => {
  const { body } = stripRequest(
    json('{"z":1.0e2,"ng_capture":0,"a":12345678901234567890,"a":"\\ud83d","messages":[{"x":[1 , 2],"token_ids":0}]}'),
  );
  assert.equal(body.rawText(), '{"z":1.0e2,"a":12345678901234567890,"a":"\\ud83d","messages":[{"x":[1 , 2]}]}');
});

test('duplicates are all dropped and all counted', () => {
  const { body, stripped } = stripRequest(json('{"ng_capture":1,"ng_capture":2}'));
  assert.equal(body.rawText(), '{}');
  assert.deepEqual(stripped, ['ng_capture', 'ng_capture']);
});

test('deep bodies are no problem', () => {
  const deep = `{"token_ids":1,"tools":${'['.repeat(510)}${']'.repeat(510)}}`;
  assert.equal(stripRequest(json(deep)).body.keys.join(), 'tools');
});

for (const text of ['[]', '"x"', '1', 'null'])
  test(`a body that is ${text} comes back as it is`, () => {
    const body = json(text);
    assert.equal(stripRequest(body).body, body);
  });
