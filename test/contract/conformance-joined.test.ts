import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { DIALECTS, good, PATHS } from '../support/bad-input-cases.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** A re-send that joins a running call waits like its own agent would: comments, then the reply or the error of its dialect. */
describe('joined streams', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ config: { 'sse.grace_s': '0.05', 'sse.keepalive_s': '0.05' } });
  });
  after(() => stack.close());

  const counter = async (name: string) =>
    (await stack.get('/metrics')).text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

  async function above(name: string, before: number): Promise<void> {
    for (let tries = 0; (await counter(name)) <= before; tries++) {
      assert.ok(tries < 400, `${name} did not move`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  for (const dialect of DIALECTS) {
    for (const [kind, ending] of [
      ['late', /Echo of message 1: hi/],
      ['capture_failed', /capture_failed/],
    ] as const) {
      test(`${dialect}: comments while a joined call runs, then what it came to (${kind})`, async () => {
        const url = `${stack.proxy.url}/ng-rollout/${kind}-${dialect}/v1/${PATHS[dialect]}`;
        stack.worker.arm({ kind, until_released: true });
        const gone = await counter('gym_proxy_clients_gone_total');
        const first = httpRequest(url, { method: 'POST' });
        first.on('error', () => undefined);
        first.end(JSON.stringify(good(dialect)));
        await stack.worker.whenHeld(1);
        first.destroy();
        await above('gym_proxy_clients_gone_total', gone);
        const joins = await counter('gym_proxy_joins_total');
        const again = fetch(url, { method: 'POST', body: JSON.stringify({ ...good(dialect), stream: true }) });
        await above('gym_proxy_joins_total', joins);
        const reply = await again;
        stack.worker.release();
        const text = await reply.text();
        assert.equal(reply.status, 200);
        assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8');
        assert.ok(text.startsWith(': waiting\n\n'));
        assert.match(text, ending);
        const { manifest } = (await stack.control('GET', `/ledger/${kind}-${dialect}`)).json;
        assert.equal(manifest.attempted_call_ids.length, 1);
        assert.equal(reply.headers.get('x-request-id'), manifest.attempted_call_ids[0]);
      });
    }
  }
});
