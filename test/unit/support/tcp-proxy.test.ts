import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

/** How a connection came to its end. */
type Ending = 'end' | 'reset';

class Peer {
  readonly socket: Socket;
  text = '';
  readonly ended: Promise<Ending>;
  private readonly heard: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.text += chunk;
      for (const tell of this.heard) tell();
    });
    this.ended = new Promise((resolve) => {
      socket.once('end', () => resolve('end'));
      socket.once('error', () => resolve('reset'));
    });
  }

  async hears(text: string): Promise<void> {
    while (this.text.length < text.length) await new Promise<void>((resolve) => this.heard.push(resolve));
    assert.equal(this.text, text);
  }
}

describe('TCP proxy', () => {
  let server: Server;
  let proxy: TcpProxy;
  const accepted: Peer[] = [];
  const clients: Peer[] = [];
  before(async () => {
    server = createServer({ allowHalfOpen: true }, (socket) => {
      accepted.push(new Peer(socket));
      server.emit('peer');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(async () => {
    accepted.length = 0;
    proxy = await startTcpProxy({ port: (server.address() as AddressInfo).port });
  });
  afterEach(async () => {
    for (const { socket } of [...clients, ...accepted]) socket.destroy();
    await proxy.close();
  });
  after(() => server.close());

  function dial(): Peer {
    const peer = new Peer(connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }));
    clients.push(peer);
    return peer;
  }

  async function pair(): Promise<[client: Peer, server: Peer]> {
    const [client] = await Promise.all([dial(), once(server, 'peer')]);
    return [client as Peer, accepted.at(-1) as Peer];
  }

  test('passes both ways, and the end of each half by itself', async () => {
    const [client, far] = await pair();
    client.socket.end('ping');
    await far.hears('ping');
    assert.equal(await far.ended, 'end');
    far.socket.end('pong');
    await client.hears('pong');
    assert.equal(await client.ended, 'end');
    assert.deepEqual(proxy.links[0]?.bytes, { up: 4, down: 4 });
  });

  test('cut resets both sides', async () => {
    const [client, far] = await pair();
    assert.equal(proxy.cut(), 1);
    assert.deepEqual(await Promise.all([client.ended, far.ended]), ['reset', 'reset']);
    assert.equal(proxy.links[0]?.open, false);
  });

  for (const [side, heard] of [
    ['client', 0],
    ['server', 1],
  ] as const) {
    test(`cut of the ${side} alone: the other side hears nothing`, async () => {
      const peers = await pair();
      proxy.cut(side);
      assert.equal(await peers[heard].ended, 'reset');
      const other = peers[1 - heard] as Peer;
      assert.equal(await Promise.race([other.ended, sleep(50, 'nothing')]), 'nothing');
    });
  }

  test('refuse resets before the server sees anything; next faults are used up one each', async () => {
    proxy.next({ refuse: true });
    assert.equal(await dial().ended, 'reset');
    assert.equal(accepted.length, 0);
    const [client, far] = await pair();
    client.socket.write('through');
    await far.hears('through');
    await proxy.whenLinked(2);
  });

  test('cutAfter lets so many bytes go, then resets', async () => {
    proxy.setFault({ cutAfter: { way: 'down', bytes: 3 } });
    const [client, far] = await pair();
    far.socket.write('12345');
    assert.equal(await client.ended, 'reset');
    assert.equal(client.text, '123');
    assert.equal(await far.ended, 'reset');
  });

  test('halfCloseAfter ends one way, the other goes on', async () => {
    proxy.setFault({ halfCloseAfter: { way: 'down', bytes: 2 } });
    const [client, far] = await pair();
    far.socket.write('1234');
    assert.equal(await client.ended, 'end');
    assert.equal(client.text, '12');
    client.socket.write('still here');
    await far.hears('still here');
  });

  test('halfClose of the way up: the server sees the end and can still answer', async () => {
    const [client, far] = await pair();
    proxy.halfClose('up');
    assert.equal(await far.ended, 'end');
    far.socket.write('answer');
    await client.hears('answer');
  });

  test('stall holds what is sent, resume lets it go in order', async () => {
    const [client, far] = await pair();
    proxy.stall();
    client.socket.write('one ');
    await sleep(30);
    client.socket.write('two');
    await sleep(30);
    assert.equal(far.text, '');
    proxy.resume();
    await far.hears('one two');
  });

  test('delayMs holds every chunk back, one way only', async () => {
    proxy.setFault({ delayMs: { up: 80 } });
    const [client, far] = await pair();
    const startedMs = performance.now();
    client.socket.write('slow');
    far.socket.write('fast');
    await client.hears('fast');
    await far.hears('slow');
    assert.ok(performance.now() - startedMs >= 79);
  });

  test('loseAnswers: the request arrives, its answer does not, on connections that are open already', async () => {
    const [client, far] = await pair();
    proxy.loseAnswers(1);
    client.socket.write('ask');
    await far.hears('ask');
    far.socket.write('answer');
    assert.equal(await client.ended, 'reset');
    assert.equal(client.text, '');
    const [next, beyond] = await pair();
    beyond.socket.write('answer');
    await next.hears('answer');
  });

  test('slow holds every chunk back on open connections too, until it ends', async () => {
    const [client, far] = await pair();
    proxy.slow(80);
    const startedMs = performance.now();
    client.socket.write('slow');
    await far.hears('slow');
    assert.ok(performance.now() - startedMs >= 79);
    proxy.slow(0);
    client.socket.write(', and fast');
    await far.hears('slow, and fast');
  });

  test('a server that is not there resets the client', async () => {
    const gone = await startTcpProxy({ port: 9 });
    const peer = new Peer(connect(gone.port, '127.0.0.1'));
    clients.push(peer);
    assert.equal(await peer.ended, 'reset');
    await gone.close();
  });
});
