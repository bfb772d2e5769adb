import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HttpFailure, LedgerClient, readLedger, readLedgerFromStore } from '../../../src/trainer/index.ts';
import { CONTROL_TOKEN, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
before(async () => {
  stack = await startStack();
});
after(() => stack.close());

const client = (token = CONTROL_TOKEN) => new LedgerClient(stack.proxy.controlUrl, { token });

async function call(attempt: string): Promise<void> {
  const { status } = await stack.post(`/ng-rollout/${attempt}/v1/responses`, {
    model: 'policy',
    input: `hello from ${attempt}`,
  });
  assert.equal(status, 200);
}

test('reads, closes, retires and deletes an attempt', async () => {
  await call('life');
  const open = await client().read('life');
  assert.deepEqual(
    open.ok && [
      open.value.state,
      open.value.records.length,
      open.value.whyRoot[open.value.records[0]?.model_call_id ?? '']?.cause,
    ],
    ['open', 1, 'first_call'],
  );
  const closed = await client().close('life', 0);
  assert.deepEqual(closed.ok && [closed.value.state, closed.value.pendingCallIds], ['closed', []]);
  assert.deepEqual(await client().retire(['life', 'other']), ['life']);
  await assert.rejects(client().read('life'), (error: unknown) => error instanceof HttpFailure && error.status === 410);
  assert.deepEqual(await client().delete(['life', 'nobody']), ['life']);
  const again = await client().read('life');
  assert.deepEqual(again.ok && [again.value.state, again.value.records.length], ['open', 0]);
});

test('the ledger, the manifest of the peers and the store of this process are the same ledger', async () => {
  await call('same');
  // A refused call stands in none of the lists, wherever they are read.
  stack.worker.arm({
    kind: 'status',
    status: 400,
    body: JSON.stringify({ error: { message: 'maximum context length is 5' } }),
  });
  const refused = await stack.post('/ng-rollout/same/v1/responses', { model: 'policy', input: 'too long' });
  assert.equal(refused.json.error.code, 'context_length_exceeded');
  const byAddress = await client().close('same');
  assert.ok(byAddress.ok);
  const manifestUrl = `${stack.proxy.controlUrl}/training-token-capture/control/rollouts/same/manifest`;
  const bare = await readLedger(manifestUrl, { token: CONTROL_TOKEN });
  assert.deepEqual(bare.ok && bare.value.records, byAddress.value.records);
  const fromStore = await readLedgerFromStore(stack.proxy.ctx.ledger, 'same', 3);
  assert.deepEqual(fromStore, byAddress);
});

test('a long wait is asked for in parts, until every call is settled', async () => {
  const asked: string[] = [];
  let pending = ['c1', 'c2'];
  const fetch = async (url: string) => {
    asked.push(new URL(url).search);
    if (asked.length === 3) pending = ['c1'];
    return Response.json({
      attempt: 'long',
      state: 'closed',
      complete: false,
      manifest: {
        schema_version: 3,
        capture_key: 'long',
        records: [],
        failures: [{ schema_version: 3, model_call_id: 'c1', reason: 'worker_capture_failed' }],
        attempted_call_ids: ['c1', 'c2'],
        pending_call_ids: pending,
      },
      refused: [],
      why_root: {},
    });
  };
  const patient = new LedgerClient('http://proxy', { fetch: fetch as unknown as typeof globalThis.fetch });
  const view = await patient.close('long', 3600);
  assert.deepEqual(view.ok && view.value.pendingCallIds, ['c1']);
  assert.deepEqual(asked, ['?wait_s=120', '?wait_s=120', '?wait_s=120']);
  pending = ['c2'];
  await patient.close('long', 300);
  assert.deepEqual(asked.slice(3), ['?wait_s=120', '?wait_s=120', '?wait_s=60']);
});

test('a wrong token is an error with its status', async () => {
  await assert.rejects(
    client('wrong').read('life'),
    (error: unknown) => error instanceof HttpFailure && error.status === 401,
  );
});
