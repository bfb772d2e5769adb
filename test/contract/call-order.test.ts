import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LedgerUnavailable } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { CONTROL_TOKEN, send, startStack } from '../support/stack.ts';

/** The order of protocol section 1, watched from outside. */

const cleanUp: (() => Promise<unknown> | unknown)[] = [];
after(async () => {
  for (const step of cleanUp.reverse()) await step();
});

const CHAT = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };

test('the intent is durable and readable while the worker holds its answer', async () => {
  const stack = await startStack();
  cleanUp.push(() => stack.close());
  stack.worker.arm({ kind: 'hold' });
  const answer = stack.post('/ng-rollout/held/v1/chat/completions', CHAT);
  await stack.worker.whenHeld(1);
  const during = await stack.control('GET', '/ledger/held');
  assert.equal(during.json.manifest.attempted_call_ids.length, 1);
  assert.deepEqual(during.json.manifest.pending_call_ids, during.json.manifest.attempted_call_ids);
  assert.deepEqual(during.json.manifest.records, []);
  stack.worker.release();
  assert.equal((await answer).status, 200);
  const afterwards = await stack.control('GET', '/ledger/held');
  assert.deepEqual(afterwards.json.manifest.pending_call_ids, []);
  assert.equal(afterwards.json.manifest.records.length, 1);
});

for (const stream of [false, true]) {
  test(`no byte of a ${stream ? 'streamed' : 'JSON'} reply leaves while the ledger's commit is held`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gym-order-'));
    cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
    const ledger = await openLedger({
      url: `sqlite:${join(folder, 'ledger.db')}`,
      replica: 'r1',
      now: () => Date.now() / 1000,
      leaseS: 15,
      abandonedAfterS: null,
      replies: { keepBytes: 1_000_000, keepS: 60 },
    });
    let reached: () => void = () => undefined;
    const atCommit = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const commit = ledger.commit.bind(ledger);
    ledger.commit = async (request) => {
      reached();
      await gate;
      return commit(request);
    };
    const stack = await startStack({ overrides: { ledger } });
    cleanUp.push(() => stack.close());
    let bytes = 0;
    const reply = fetch(`${stack.proxy.url}/ng-rollout/gated/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ ...CHAT, stream }),
    }).then(async (response) => {
      bytes += 1;
      return response.text();
    });
    await atCommit;
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(bytes, 0);
    letGo();
    assert.match(await reply, /Echo of message 1: hello/);
  });
}

test('after kill -9 between intent and answer, the restarted proxy reports the call as pending, with its failure row', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gym-kill-'));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  const worker = await startReferenceWorker();
  cleanUp.push(() => worker.close());
  worker.arm({ kind: 'hold' });
  const first = await serve(worker.url, folder);
  const call = fetch(`${first.url}/ng-rollout/killed/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(CHAT),
  });
  const failed = assert.rejects(call);
  await worker.whenHeld(1);
  first.child.kill('SIGKILL');
  await failed;
  const second = await serve(worker.url, folder);
  const ledger = await send('GET', `${second.url}/ledger/killed`, undefined, {
    authorization: `Bearer ${CONTROL_TOKEN}`,
  });
  const [callId] = ledger.json.manifest.attempted_call_ids;
  assert.deepEqual(ledger.json.manifest.pending_call_ids, [callId]);
  assert.deepEqual(ledger.json.manifest.failures, [
    { schema_version: 3, model_call_id: callId, reason: 'request_finished_without_staged_coordinates' },
  ]);
  assert.deepEqual(ledger.json.manifest.records, []);
  second.child.kill('SIGTERM');
  worker.release();
});

test('a call is refused, and the worker not asked, when the intent cannot be recorded', async () => {
  const stack = await startStack();
  cleanUp.push(() => stack.close());
  const { ledger } = stack.proxy.ctx;
  ledger.admit = async () => {
    throw new LedgerUnavailable('switched off by the test');
  };
  const reply = await stack.post('/ng-rollout/away/v1/messages', { ...CHAT, max_tokens: 10 });
  assert.equal(reply.status, 503);
  assert.equal(reply.headers.get('retry-after'), '2');
  assert.equal(reply.headers.get('x-should-retry'), null);
  assert.equal(reply.json.error.type, 'overloaded_error');
  assert.deepEqual(stack.worker.log(), []);
});

async function serve(workerUrl: string, folder: string): Promise<{ url: string; child: ReturnType<typeof spawn> }> {
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      main,
      'serve',
      '--server-port',
      '0',
      '--workers',
      workerUrl,
      '--ledger-url',
      `sqlite:${join(folder, 'ledger.db')}`,
    ],
    {
      env: { ...process.env, GYM_PROXY_CONTROL_TOKEN: CONTROL_TOKEN },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /"url":"(http:[^"]+)"/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${text}`)));
  });
  cleanUp.push(() => child.kill('SIGKILL'));
  return { url, child };
}
