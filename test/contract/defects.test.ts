import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStack } from '../support/stack.ts';

/** A defect of ours after the admission must not leave a call that a close waits for. */

for (const step of ['upstreamFields', 'judge', 'recordJson'] as const) {
  test(`a defect in ${step}: the agent gets 500, the call stays pending with its failure row`, async () => {
    const stack = await startStack();
    try {
      const { ctx } = stack.proxy;
      const broken = () => {
        throw new Error('planted');
      };
      Object.assign(ctx, { strategy: { ...ctx.strategy, [step]: broken } });
      const reply = await stack.post('/ng-rollout/a/v1/chat/completions', {
        model: 'm',
        messages: [{ role: 'user', content: 'q' }],
      });
      assert.equal(reply.status, 500);
      assert.equal(reply.json.error.code, 'internal_error');
      const { json } = await stack.control('POST', '/ledger/a/close?wait_s=60');
      assert.equal(json.manifest.pending_call_ids.length, 1);
      assert.deepEqual(json.manifest.failures, [
        {
          schema_version: 3,
          model_call_id: json.manifest.pending_call_ids[0],
          reason: 'request_finished_without_staged_coordinates',
        },
      ]);
      assert.deepEqual(json.manifest.records, []);
    } finally {
      await stack.close();
    }
  });
}
