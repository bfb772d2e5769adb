import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Cluster, Redis } from 'ioredis';
import { unpackDebianRedis } from '../support/redis-binary.ts';
import { DURABLE, startRedis } from '../support/redis-server.ts';
import { startCluster, startSentinelSetup } from '../support/redis-topologies.ts';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function ask<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

test('two servers at once are separate, and stop ends the process and removes its folder', async () => {
  const [first, second] = await Promise.all([startRedis(), startRedis()]);
  try {
    assert.notEqual(first.port, second.port);
    assert.equal(first.url, `redis://127.0.0.1:${first.port}`);
    assert.equal(await ask(first.url, (client) => client.set('key', 'first')), 'OK');
    assert.equal(await ask(second.url, (client) => client.get('key')), null);
    await first.stop();
    assert.equal(isRunning(first.pid), false);
    assert.equal(existsSync(first.dir), false);
    assert.equal(isRunning(second.pid), true);
    await first.stop();
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
});

test('a durable server has every answered write after kill -9, on the same port', async () => {
  const server = await startRedis({ args: DURABLE });
  try {
    await ask(server.url, (client) => client.set('key', 'kept'));
    const killed = server.pid;
    await server.kill9();
    assert.equal(isRunning(killed), false);
    await server.restart();
    assert.notEqual(server.pid, killed);
    assert.equal(await ask(server.url, (client) => client.get('key')), 'kept');
  } finally {
    await server.stop();
  }
});

test('a server without persistence comes back empty', async () => {
  const server = await startRedis();
  try {
    await ask(server.url, (client) => client.set('key', 'lost'));
    await server.restart();
    assert.equal(await ask(server.url, (client) => client.get('key')), null);
  } finally {
    await server.stop();
  }
});

test('a given folder is kept, and a Unix socket answers', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'redis-support-'));
  const unixSocket = join(dir, 'redis.sock');
  const server = await startRedis({ dir, unixSocket, args: DURABLE });
  try {
    assert.equal(await ask(unixSocket, (client) => client.ping()), 'PONG');
    await server.stop();
    assert.equal(existsSync(join(dir, 'appendonlydir')), true);
  } finally {
    await server.stop();
    await rm(dir, { recursive: true });
  }
});

test('a server that cannot start says why', async () => {
  await assert.rejects(startRedis({ args: ['--no-such-setting', '1'] }), /no-such-setting/);
  const server = await startRedis();
  try {
    await assert.rejects(startRedis({ port: server.port }), /Address already in use/);
    assert.equal(isRunning(server.pid), true);
  } finally {
    await server.stop();
  }
});

test('after the master is killed the sentinels name the replica', async () => {
  const setup = await startSentinelSetup({ sentinels: 3 });
  try {
    const [hosts, masterName] = setup.url.slice('redis+sentinel://'.length).split('/');
    assert.equal(masterName, setup.masterName);
    const sentinels = hosts!
      .split(',')
      .map((host) => ({ host: host.split(':')[0]!, port: Number(host.split(':')[1]) }));
    assert.equal(sentinels.length, 3);
    const client = new Redis({ sentinels, name: setup.masterName, role: 'master' });
    client.on('error', () => {}); // refused connections are expected until the failover is done
    try {
      assert.match(await client.info('server'), new RegExp(`tcp_port:${setup.master.port}\r`));
      await setup.master.kill9();
      let port: string | undefined;
      while (port !== String(setup.replica.port)) {
        const info = await client.info('server').catch(() => ''); // the connection that the kill broke
        port = /tcp_port:(\d+)/.exec(info)?.[1];
      }
      assert.equal(await client.set('key', 'written'), 'OK');
    } finally {
      client.disconnect();
    }
  } finally {
    await setup.stop();
  }
});

test('a cluster spreads its slots over all nodes', async () => {
  const setup = await startCluster(3);
  try {
    const hosts = setup.url.slice('redis+cluster://'.length).split(',');
    assert.equal(hosts.length, 3);
    const cluster = new Cluster(hosts.map((host) => ({ host: host.split(':')[0]!, port: Number(host.split(':')[1]) })));
    try {
      for (let index = 0; index < 60; index += 1) await cluster.set(`key-${index}`, index);
      const counts = await Promise.all(setup.nodes.map((node) => ask(node.url, (client) => client.dbsize())));
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        60,
      );
      assert.equal(
        counts.every((count) => count > 0),
        true,
      );
    } finally {
      cluster.disconnect();
    }
  } finally {
    await setup.stop();
  }
});

test("Debian's package runs without being installed", async () => {
  const dir = await mkdtemp(join(tmpdir(), 'redis-unpacked-'));
  try {
    const folder = join(dir, 'redis');
    const [first, second] = await Promise.all([unpackDebianRedis(folder), unpackDebianRedis(folder)]);
    assert.deepEqual(first, second);
    const version = execFileSync(first.server, ['--version'], { env: first.env, encoding: 'utf8' });
    assert.match(version, /^Redis server v=\d+\./);
  } finally {
    await rm(dir, { recursive: true });
  }
});
