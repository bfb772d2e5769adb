import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { AgentChannel } from '../../../src/call/agent-channel.ts';
import { serviceError } from '../../../src/errors.ts';

const cleanUp: (() => unknown)[] = [];
after(() => {
  for (const step of cleanUp) step();
});

test('an error after the reply has gone out changes nothing and throws nothing', async () => {
  for (const stream of [false, true]) {
    const channels: AgentChannel[] = [];
    const server = createServer((_request, response) => {
      const channel = new AgentChannel('chat', response);
      channels.push(channel);
      channel.send(Buffer.from('whole'), stream);
      channel.fail(serviceError('internal_error', 'too late'));
    }).listen(0, '127.0.0.1');
    cleanUp.push(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    assert.equal(await reply.text(), 'whole');
    assert.equal(reply.status, 200);
    assert.equal(channels[0]?.sentStatus, 200);
    assert.equal(await channels[0]?.handedOver, true);
  }
});
