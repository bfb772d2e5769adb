import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relayedCompletion } from '../../../../src/protocol/chat/relay.ts';
import { convertChat, json } from '../../../support/chat-conversion.ts';

const NO_TOOLS = new Map();

test('an answer without token data can be sent as it is', () => {
  const completion =
    '{"id":"x","choices":[{"message":{"content":"a"},"logprobs":{"content":[]},"stop_reason":"END"},{"message":{"content":"b"}}],"usage":{"a":1.0}}';
  assert.equal(relayedCompletion(json(completion), NO_TOOLS), null);
});

test('token data goes, everything else keeps its bytes', () => {
  const completion =
    '{"id":"x","prompt_token_ids":[1],"prompt_logprobs":null,"choices":[{"token_ids":[1],"stop_reason":151645,"message":{"content":"a","routed_experts":1,"generation_log_probs":[],"n":1.0}},' +
    '{"stop_reason":"END","message":{"content":"b"}}],"kv_transfer_params":null,"ng_commit_coords":{},"usage":{"a":1.0}}';
  assert.equal(
    relayedCompletion(json(completion), NO_TOOLS)?.toString(),
    '{"id":"x","choices":[{"message":{"content":"a","n":1.0}},{"stop_reason":"END","message":{"content":"b"}}],"usage":{"a":1.0}}',
  );
});

test('an answer of another shape is left alone', () => {
  assert.equal(relayedCompletion(json('[]'), NO_TOOLS), null);
  assert.equal(relayedCompletion(json('{"choices":5}'), NO_TOOLS), null);
  assert.equal(relayedCompletion(json('{"choices":[null,{"message":5}]}'), NO_TOOLS), null);
});

test('a call of a custom tool is a custom call again, in every choice; other calls keep their bytes', () => {
  const request = convertChat({
    messages: [{ role: 'user', content: 'q' }],
    tools: [
      { type: 'custom', custom: { name: 'patch' } },
      { type: 'function', function: { name: 'f', parameters: {} } },
    ],
  });
  const call = (name: string, text: string) =>
    `{"index":0,"id":"c1","type":"function","function":{"name":"${name}","arguments":${JSON.stringify(text)}}}`;
  const completion = (first: string, second: string) =>
    `{"choices":[{"message":{"content":null,"tool_calls":[${first},${call('f', '{ }')}]}},{"message":{"tool_calls":[${second}]}}]}`;
  assert.equal(
    relayedCompletion(
      json(completion(call('patch', '{"input":"a\\"b"}'), call('patch', 'no JSON'))),
      request.replyContext.clientTools,
    )?.toString(),
    completion(
      '{"id":"c1","type":"custom","custom":{"name":"patch","input":"a\\"b"}}',
      '{"id":"c1","type":"custom","custom":{"name":"patch","input":"no JSON"}}',
    ),
  );
});
