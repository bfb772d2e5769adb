import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextRefusal, isContextRefusal, readEngineError } from '../../../src/call/worker-errors.ts';

/** Engines' words for a prompt that is too long, and what agents are to read in front of them. */
const REFUSALS: readonly [words: string, prefix: string][] = [
  [
    'The maximum context length of this model is 131072 tokens, but the request has 131073 input tokens.',
    'prompt is too long: 131073 tokens > 131072 maximum',
  ],
  [
    "This model's maximum context length is 4,096 tokens. However, you requested 5,000 tokens (4,000 in the messages, 1,000 in the completion).",
    'prompt is too long: 4000 tokens > 4096 maximum',
  ],
  [
    "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
    'prompt is too long: 5000 tokens > 4096 maximum',
  ],
  ['Over the MAXIMUM CONTEXT LENGTH of the model.', 'prompt is too long'],
];

for (const [message, prefix] of REFUSALS) {
  test(`context refusal: ${message}`, () => {
    const error = readEngineError(400, {}, Buffer.from(JSON.stringify({ error: { message } })));
    assert.equal(isContextRefusal(error), true);
    const { code, status, contextPrefix, message: own } = contextRefusal(error);
    assert.deepEqual(
      { code, status, contextPrefix, own },
      { code: 'context_length_exceeded', status: 400, contextPrefix: prefix, own: message },
    );
  });
}
