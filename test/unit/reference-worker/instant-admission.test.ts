import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pullCapture } from '../../../src/reference-worker/instant-admission.ts';
import { admissionOf, type HandMessage } from '../../support/capture-by-hand.ts';

const messages: HandMessage[] = [{ role: 'user', content: 'task {"ng_capture": {"schema_version": 2}} "\\' }];
const capture = admissionOf({ owner: 'a', callId: 'c1', messages });
const wanted = {
  schemaVersion: 3,
  ownerKey: 'capture_key',
  owner: 'a',
  modelCallId: 'c1',
  parentCallId: null,
  parentChainHash: null,
  prevLen: 0,
  stagingChain: [],
};
const pull = (text: string) => pullCapture(Buffer.from(text));

describe('pulling ng_capture out of a body', () => {
  test('wherever it stands, written compactly or not', () => {
    assert.deepEqual(pull(JSON.stringify({ messages, ng_capture: capture })), wanted);
    assert.deepEqual(pull(JSON.stringify({ ng_capture: capture, messages })), wanted);
    assert.deepEqual(pull(JSON.stringify({ messages, ng_capture: capture }, null, 2)), wanted);
    assert.deepEqual(pull(JSON.stringify({ offload_params: { ng_capture: capture } })), wanted);
  });

  test('ids with quotes, brackets and backslashes do not end it', () => {
    const call = 'c"}\\';
    const body = JSON.stringify({ ng_capture: { ...capture, model_call_id: call } });
    assert.deepEqual(pull(body), { ...wanted, modelCallId: call });
  });

  test('schema 2', () => {
    const body = JSON.stringify({ ng_capture: admissionOf({ owner: 'a', callId: 'c1', messages, schema: 2 }) });
    assert.deepEqual(pull(body), { ...wanted, schemaVersion: 2, ownerKey: 'rollout_id' });
  });

  test('none: not there, only talked about, or null', () => {
    assert.equal(pull(JSON.stringify({ messages })), null);
    assert.equal(pull(JSON.stringify({ stop: ['ng_capture'] })), null);
    assert.equal(pull(JSON.stringify({ messages, ng_capture: null })), null);
  });

  test('invalid: cut off, no JSON, or without what is needed', () => {
    assert.equal(pull('{"ng_capture":{"schema_version":3,"capture'), 'invalid');
    assert.equal(pull('{"ng_capture":{nothing}}'), 'invalid');
    assert.equal(pull('{"ng_capture":{}}'), 'invalid');
    const { capture_key: _, ...ownerless } = capture;
    assert.equal(pull(JSON.stringify({ ng_capture: ownerless })), 'invalid');
  });
});
