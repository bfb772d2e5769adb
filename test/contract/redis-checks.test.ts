import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import type { LedgerCheck } from '../../src/ledger/ledger.ts';
import type { LedgerOptions } from '../../src/ledger/open-ledger.ts';
import { freePort } from '../support/ports.ts';
import { DURABLE, startRedis } from '../support/redis-server.ts';
import { startCluster } from '../support/redis-topologies.ts';
import { runWriter } from './ledger/killing.ts';
import { openRedisLedger } from './ledger/redis-store.ts';

async function checksAt(
  url: string,
  options: Partial<LedgerOptions> = {},
): Promise<Map<string, Omit<LedgerCheck, 'name'>>> {
  const ledger = await openRedisLedger(url, options);
  try {
    return new Map((await ledger.check()).map(({ name, ...rest }) => [name, rest]));
  } finally {
    await ledger.stop();
  }
}

async function checksOf(
  args: string[],
  options: Partial<LedgerOptions> = {},
): Promise<Map<string, Omit<LedgerCheck, 'name'>>> {
  const server = await startRedis({ args });
  try {
    return await checksAt(server.url, options);
  } finally {
    await server.stop();
  }
}

describe('a Redis ledger over TLS', () => {
  it('trusts the authorities of the machine and those of NODE_EXTRA_CA_CERTS, nobody else', async () => {
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(import.meta.dirname, 'ledger', 'tls', name)) as [
      string,
      string,
    ];
    const tlsPort = await freePort();
    const tls = [
      '--tls-port',
      String(tlsPort),
      '--tls-cert-file',
      cert,
      '--tls-key-file',
      key,
      '--tls-ca-cert-file',
      cert,
    ];
    const server = await startRedis({ args: [...tls, '--tls-auth-clients', 'no'] });
    try {
      const writer = { url: `rediss://localhost:${tlsPort}`, attempt: 'a', callsAtOnce: 2, calls: 10 };
      const trusting = await runWriter({ ...writer, environment: { NODE_EXTRA_CA_CERTS: cert } });
      assert.equal(trusting.committed.size, 10, trusting.errors);
      await assert.rejects(
        openRedisLedger(writer.url, { operationTimeoutMs: 2000 }),
        /LedgerUnavailable: .*self-signed certificate/,
      );
    } finally {
      await server.stop();
    }
  });
});

describe('checks of a Redis ledger', () => {
  it('report a durable server as such', async () => {
    const checks = await checksOf(DURABLE, { wantDurability: { appendfsyncAlways: true } });
    assert.match(checks.get('ledger_reachable')!.detail, /^\w+ \d+\.\d+\.\d+, standalone$/);
    assert.deepEqual(checks.get('ledger_persistence'), { ok: true, detail: 'append-only file on, last write ok' });
    assert.deepEqual(checks.get('ledger_sync'), { ok: true, detail: 'appendfsync always' });
    assert.deepEqual(checks.get('ledger_eviction'), { ok: true, detail: 'maxmemory-policy noeviction' });
    assert.deepEqual(checks.get('ledger_replicas'), { ok: true, detail: '0 connected, 0 must acknowledge each write' });
    assert.ok([...checks.values()].every(({ ok }) => ok));
  });

  it('warn of a server that keeps nothing, or only snapshots', async () => {
    const nothing = await checksOf([], { wantDurability: { appendfsyncAlways: true } });
    assert.deepEqual(nothing.get('ledger_persistence'), {
      ok: false,
      detail: 'persistence is off: a restart loses the ledger',
    });
    assert.deepEqual(nothing.get('ledger_sync'), {
      ok: false,
      detail: 'nothing is synced: there is no append-only file',
    });
    const snapshots = await checksOf(['--save', '3600 1']);
    assert.deepEqual(snapshots.get('ledger_persistence'), {
      ok: false,
      detail: 'snapshots only (3600 1): a restart loses minutes',
    });
  });

  it('say whether each write is synced, and whether that was wanted', async () => {
    const args = ['--appendonly', 'yes', '--appendfsync', 'everysec'];
    const detail = 'appendfsync everysec: a crash of the machine can lose the last second or more';
    assert.deepEqual((await checksOf(args)).get('ledger_sync'), { ok: true, detail });
    const wanted = await checksOf(args, { wantDurability: { appendfsyncAlways: true } });
    assert.deepEqual(wanted.get('ledger_sync'), { ok: false, detail });
  });

  it('warn of a server that may evict records', async () => {
    const evicting = await checksOf(['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']);
    assert.deepEqual(evicting.get('ledger_eviction'), {
      ok: false,
      detail: 'maxmemory-policy allkeys-lru: records may be evicted; it must be noeviction',
    });
    const unlimited = await checksOf(['--maxmemory-policy', 'allkeys-lru']);
    assert.deepEqual(unlimited.get('ledger_eviction'), { ok: true, detail: 'maxmemory-policy allkeys-lru' });
  });

  it('say unknown where CONFIG is forbidden, as managed servers do', async () => {
    const forbidden = ['--rename-command', 'CONFIG', ''];
    const durable = await checksOf([...DURABLE, ...forbidden], { wantDurability: { appendfsyncAlways: true } });
    assert.deepEqual(durable.get('ledger_persistence'), { ok: true, detail: 'append-only file on, last write ok' });
    assert.deepEqual(durable.get('ledger_sync'), { ok: true, detail: 'appendfsync unknown (CONFIG is not allowed)' });
    assert.deepEqual(durable.get('ledger_eviction'), { ok: true, detail: 'maxmemory-policy noeviction' });
    const nothing = await checksOf(forbidden);
    assert.deepEqual(nothing.get('ledger_persistence'), {
      ok: false,
      detail: 'no append-only file; snapshots unknown (CONFIG is not allowed)',
    });
  });

  it('say unknown to a user who may not ask, and the ledger works for it', async () => {
    const server = await startRedis({ args: DURABLE });
    const admin = new Redis(server.url);
    try {
      await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-@dangerous');
      const url = server.url.replace('redis://', 'redis://app:secret@');
      const unknown = { ok: true, detail: 'unknown (INFO is not allowed)' };
      assert.deepEqual(Object.fromEntries(await checksAt(url, { wantDurability: { waitReplicas: 1 } })), {
        ledger_reachable: { ok: true, detail: 'redis, version unknown (INFO is not allowed)' },
        ledger_persistence: unknown,
        ledger_sync: unknown,
        ledger_eviction: unknown,
        ledger_replicas: { ...unknown, ok: false },
      });
      const writer = await runWriter({ url, attempt: 'a', callsAtOnce: 2, calls: 10 });
      assert.equal(writer.committed.size, 10, writer.errors);
    } finally {
      admin.disconnect();
      await server.stop();
    }
  });

  it('name the node of a Cluster that is not as the others', async () => {
    const cluster = await startCluster(3, { args: DURABLE });
    try {
      const same = await checksAt(cluster.url);
      assert.deepEqual(same.get('ledger_sync'), { ok: true, detail: 'appendfsync always (3 nodes)' });
      await cluster.nodes[1]!.stop();
      const checks = await checksAt(cluster.url, { operationTimeoutMs: 2000 }).catch((error: Error) => error);
      // Without a third of its slots a Cluster answers nothing.
      assert.ok(checks instanceof Error || checks.get('ledger_reachable')?.ok === false);
    } finally {
      await cluster.stop();
    }
  });

  it('miss replicas that writes must wait for', async () => {
    const checks = await checksOf([], { wantDurability: { waitReplicas: 2 } });
    assert.deepEqual(checks.get('ledger_replicas'), {
      ok: false,
      detail: '0 connected, 2 must acknowledge each write',
    });
  });

  it('need a password where the server has one', async () => {
    const server = await startRedis({ args: ['--requirepass', 'sécret:@/x'] });
    try {
      const url = server.url.replace('://', `://:${encodeURIComponent('sécret:@/x')}@`);
      assert.equal((await checksAt(url)).get('ledger_reachable')?.ok, true);
      await assert.rejects(openRedisLedger(server.url, { operationTimeoutMs: 2000 }), /LedgerUnavailable: .*NOAUTH/);
      const wrong = server.url.replace('://', '://:wrong@');
      await assert.rejects(openRedisLedger(wrong, { operationTimeoutMs: 2000 }), (error: Error) => {
        assert.match(error.message, /LedgerUnavailable|WRONGPASS|NOAUTH/);
        assert.ok(!error.message.includes('wrong@'));
        return true;
      });
    } finally {
      await server.stop();
    }
  });
});
