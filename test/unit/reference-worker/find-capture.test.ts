import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_SOURCE_MATCH } from '../../../src/protocol/wire/admission.ts';
import { parseChatBody } from '../../../src/reference-worker/chat-body.ts';
import { findCapture, findCaptureConflict } from '../../../src/reference-worker/find-capture.ts';
import { admissionOf, bodyOf, type HandMessage } from '../../support/capture-by-hand.ts';

const messages: HandMessage[] = [{ role: 'user', content: 'task' }];
const options = { kind: 'auto', ownerKey: 'auto', sourceMatch: DEFAULT_SOURCE_MATCH } as const;
const top = bodyOf({ owner: 'a', callId: 'c1', messages });
const { ng_capture, return_tokens_as_token_ids: _, ...rest } = top;
const offloaded = { ...rest, offload_params: { ng_capture } };

function body(value: unknown) {
  const parsed = parseChatBody(Buffer.from(JSON.stringify(value)));
  return parsed.ok ? parsed.value : assert.fail(parsed.message);
}

describe('where the admission stands', () => {
  const cases: [kind: 'auto' | 'vllm' | 'megatron', value: unknown, found: string][] = [
    ['auto', top, 'top'],
    ['auto', offloaded, 'offload_params'],
    ['vllm', top, 'top'],
    ['vllm', offloaded, 'plain'],
    ['megatron', top, 'plain'],
    ['megatron', offloaded, 'offload_params'],
    ['auto', { ...top, ng_capture: null }, 'plain'],
    ['auto', { ...offloaded, offload_params: null }, 'plain'],
    ['auto', { ...top, offload_params: { ng_capture } }, 'invalid'],
    ['auto', { ...top, ng_capture: {} }, 'invalid'],
  ];
  for (const [at, [kind, value, wanted]] of cases.entries()) {
    test(`case ${at}: a ${kind} worker finds ${wanted}`, () => {
      const found = findCapture(body(value), { ...options, kind });
      assert.equal(found.kind === 'captured' ? found.place : found.kind, wanted);
    });
  }
});

describe('what goes along with a captured call', () => {
  const conflictOf = (value: Record<string, unknown>) => {
    const read = body(value);
    const capture = findCapture(read, options);
    return capture.kind === 'captured' ? findCaptureConflict(read, capture) : assert.fail(capture.kind);
  };
  const schema2 = (mode: 'text' | 'token_in') => ({
    ...top,
    ng_capture: {
      ...admissionOf({ owner: 'a', callId: 'c2', messages, schema: 2 }),
      ...(mode === 'text'
        ? {}
        : { mode, parent_call_id: 'c1', prev_len: 3, parent_chain_hash: 'a'.repeat(64), staging_chain: ['a/c1'] }),
    },
  });

  test('what a proxy sends is right', () => {
    assert.equal(conflictOf(top), null);
    assert.equal(conflictOf(offloaded), null);
    assert.equal(conflictOf(schema2('text')), null);
    assert.equal(conflictOf({ ...schema2('token_in'), required_prefix_token_ids: [] }), null);
  });

  const wrong: [value: Record<string, unknown>, message: RegExp][] = [
    [{ ...top, stream: true }, /stream/],
    [{ ...top, n: 2 }, /n 1/],
    [{ ...top, add_generation_prompt: false }, /generation prompt/],
    [{ ...top, continue_final_message: true }, /final message/],
    [{ ...top, logprobs: false }, /logprobs: true/],
    [{ ...top, top_logprobs: 5 }, /top_logprobs/],
    [{ ...top, return_tokens_as_token_ids: null }, /return_tokens_as_token_ids: true/],
    [{ ...offloaded, return_tokens_as_token_ids: true }, /unknown/],
    [{ ...top, required_prefix_token_ids: [] }, /no place/],
    [schema2('token_in'), /needs required_prefix_token_ids/],
    [{ ...schema2('token_in'), required_prefix_token_ids: [1] }, /must be empty/],
  ];
  for (const [value, message] of wrong) {
    test(`refused: ${message.source}`, () => assert.match(String(conflictOf(value)), message));
  }
});
