import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relayedCompletion } from '../../../../src/protocol/chat/relay.ts';
import { json } from '../../../support/chat-conversion.ts';

test('an answer without token data can be sent as it is', () => {
  const completion =
    '{"id":"x","choices":[{"message":{"content":"a"},"logprobs":{"content":[]},"stop_reason":"END"},{"message":{"content":"b"}}],"usage":{"a":1.0}}';
  assert.equal(relayedCompletion(json(completion)), null);
});

test('token data goes, everything else keeps its bytes', () => {
  const completion =
    '{"id":"x","prompt_token_ids":[1],"prompt_logprobs":null,"choices":[{"token_ids":[1],"stop_reason":151645,"message":{"content":"a","routed_experts":1,"generation_log_probs":[],"n":1.0}},' +
    '{"stop_reason":"END","message":{"content":"b"}}],"kv_transfer_params":null,"ng_commit_coords":{},"usage":{"a":1.0}}';
  assert.equal(
    relayedCompletion(json(completion))?.toString(),
    '{"id":"x","choices":[{"message":{"content":"a","n":1.0}},{"stop_reason":"END","message":{"content":"b"}}],"usage":{"a":1.0}}',
  );
});

test('an answer of another shape is left alone', () => {
  assert.equal(relayedCompletion(json('[]')), null);
  assert.equal(relayedCompletion(json('{"choices":5}')), null);
  assert.equal(relayedCompletion(json('{"choices":[null,{"message":5}]}')), null);
});
