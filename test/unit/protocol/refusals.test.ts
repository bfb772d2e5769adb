import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineMessage } from '../../../src/protocol/conversation.ts';
import { prefillRefusal, type RefusalScope, sharedRefusal, wrongType } from '../../../src/protocol/refusals.ts';
import { json } from '../../support/chat-conversion.ts';

const PLAIN: RefusalScope = { dialect: 'chat', captured: false, allowChatTemplate: false };
const CAPTURED: RefusalScope = { ...PLAIN, captured: true };
const RESPONSES: RefusalScope = { ...PLAIN, dialect: 'responses' };

const EVERYWHERE: readonly (readonly [param: string, body: string])[] = [
  ['previous_response_id', '{"previous_response_id":"resp_1"}'],
  ['previous_response_id', '{"previous_response_id":""}'],
  ['conversation', '{"conversation":"conv_1"}'],
  ['conversation', '{"conversation":{"id":"conv_1"}}'],
  ['background', '{"background":true}'],
  ['background', '{"background":"yes"}'],
  ['chat_template', '{"chat_template":"{{ x }}"}'],
  ['chat_template_kwargs.chat_template', '{"chat_template_kwargs":{"chat_template":"x"}}'],
  ['vllm_xargs.kv_transfer_params', '{"vllm_xargs":{"kv_transfer_params":{}}}'],
  ['best_of', '{"best_of":2}'],
  ['logits_processors', '{"logits_processors":["os.system"]}'],
];

const UNDER_CAPTURE: readonly (readonly [param: string, body: string])[] = [
  ['n', '{"n":2}'],
  ['n', '{"n":0}'],
  ['n', '{"n":"1"}'],
  ['truncate_prompt_tokens', '{"truncate_prompt_tokens":100}'],
  ['truncate_prompt_tokens', '{"truncate_prompt_tokens":-1}'],
  ['continue_final_message', '{"continue_final_message":true}'],
  ['continue_final_message', '{"continue_final_message":1}'],
  ['add_generation_prompt', '{"add_generation_prompt":false}'],
  ['add_generation_prompt', '{"add_generation_prompt":"no"}'],
  ['chat_template_kwargs.continue_final_message', '{"chat_template_kwargs":{"continue_final_message":true}}'],
  ['chat_template_kwargs.add_generation_prompt', '{"chat_template_kwargs":{"add_generation_prompt":false}}'],
  ['truncation', '{"truncation":"auto"}'],
  ['truncation', '{"truncation":true}'],
  ['logprobs', '{"logprobs":true}'],
  ['logprobs', '{"logprobs":5}'],
  ['top_logprobs', '{"top_logprobs":1}'],
  ['top_logprobs', '{"top_logprobs":"1"}'],
  ['include', '{"include":["reasoning.encrypted_content","message.output_text.logprobs"]}'],
  ['echo', '{"echo":true}'],
];

const NO_USE: readonly string[] = [
  '{"previous_response_id":null,"conversation":null,"background":null,"chat_template":null,"best_of":null,"logits_processors":null}',
  '{"background":false,"best_of":1,"logits_processors":[]}',
  '{"n":1,"truncate_prompt_tokens":null,"continue_final_message":false,"add_generation_prompt":true,"truncation":"disabled"}',
  '{"n":null,"continue_final_message":null,"add_generation_prompt":null,"truncation":null,"echo":null}',
  '{"logprobs":false,"top_logprobs":0,"include":["reasoning.encrypted_content"],"echo":false}',
  '{"logprobs":null,"top_logprobs":null,"include":null}',
  '{"include":[]}',
  '{"chat_template_kwargs":{"enable_thinking":false,"add_generation_prompt":true,"continue_final_message":false,"chat_template":null}}',
  '{"chat_template_kwargs":null,"vllm_xargs":{"a":1}}',
];

for (const [param, body] of EVERYWHERE)
  for (const scope of [PLAIN, CAPTURED, RESPONSES])
    test(`${body} is refused in ${scope.dialect}, ${scope.captured ? 'captured' : 'plain'}`, () => {
      const refusal = sharedRefusal(json(body), scope);
      assert.equal(refusal?.param, param);
      assert.ok(refusal.message.startsWith(`${param}: `), refusal.message);
    });

for (const [param, body] of UNDER_CAPTURE) {
  test(`${body} is refused under capture`, () => {
    const refusal = sharedRefusal(json(body), CAPTURED);
    assert.equal(refusal?.param, param);
    assert.ok(refusal.message.startsWith(`${param}: `), refusal.message);
  });

  test(`${body} is no matter of these rules without capture`, () => {
    assert.equal(sharedRefusal(json(body), PLAIN), null);
  });
}

for (const body of NO_USE)
  for (const scope of [PLAIN, CAPTURED, { ...RESPONSES, captured: true }])
    test(`${body} is no use of anything in ${scope.dialect}, ${scope.captured ? 'captured' : 'plain'}`, () => {
      assert.equal(sharedRefusal(json(body), scope), null);
    });

test('n other than 1 is refused in Responses also without capture', () => {
  assert.equal(sharedRefusal(json('{"n":2}'), RESPONSES)?.param, 'n');
  assert.equal(sharedRefusal(json('{"n":1}'), RESPONSES), null);
});

test('a configured chat template passes', () => {
  assert.equal(sharedRefusal(json('{"chat_template":"x"}'), { ...CAPTURED, allowChatTemplate: true }), null);
});

test('messages say what was expected and what came', () => {
  assert.equal(wrongType('messages', 'an array', json('"x"')).message, 'messages: expected an array, got a string');
  assert.equal(wrongType('messages', 'an array', undefined).message, 'messages: expected an array, got nothing');
  assert.equal(wrongType('n', 'a number', json('true')).message, 'n: expected a number, got a boolean');
  assert.equal(wrongType('n', 'a number', json('null')).message, 'n: expected a number, got null');
  assert.equal(wrongType('n', 'a number', json('[]')).message, 'n: expected a number, got an array');
  assert.equal(wrongType('n', 'a string', json('1')).message, 'n: expected a string, got a number');
  assert.equal(wrongType('n', 'a string', json('{}')).message, 'n: expected a string, got an object');
});

test('a history that ends in an assistant turn is a prefill', () => {
  const user: EngineMessage = { role: 'user', content: 'q' };
  const assistant: EngineMessage = {
    role: 'assistant',
    content: 'a',
    reasoning: null,
    refusal: null,
    toolCalls: [],
    echoedIds: [],
  };
  assert.equal(prefillRefusal([user, assistant], 'messages')?.param, 'messages');
  assert.equal(prefillRefusal([user, assistant, user], 'messages'), null);
  assert.equal(prefillRefusal([], 'messages'), null);
});
