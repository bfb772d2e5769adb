import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { Connection } from '../../src/ledger/redis/connection.ts';
import { Registrations } from '../../src/ledger/redis/registrations.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { addCall, admission, newAttempt, newCallId, record } from './ledger/builders.ts';
import { openRedisLedger } from './ledger/redis-store.ts';

/** The lists beside the attempts: they may name too much, never too little. */
describe('the lists of attempts and replicas on Redis', () => {
  const REPLICA = 'one';
  let server: RedisServer;
  let client: Redis;
  let connection: Connection;
  let ledger: Ledger;
  before(async () => {
    server = await startRedis();
    client = new Redis(server.port, { lazyConnect: true });
    await client.connect();
    const url = {
      kind: 'redis',
      host: '127.0.0.1',
      port: server.port,
      tls: false,
      username: null,
      password: null,
      db: 0,
    } as const;
    connection = new Connection(url, 8000, () => {});
    await connection.start();
    ledger = await openRedisLedger(server.url, { replica: REPLICA, leaseS: 60 });
  });
  after(async () => {
    client?.disconnect();
    connection?.stop();
    await ledger?.stop();
    await server?.stop();
  });
  const admit = (attempt: string, callId: string) => ledger.admit(admission(attempt, callId, { replica: REPLICA }));
  const isRegistered = async (attempt: string) => [
    (await client.sismember(`gmp:1:{replica:${REPLICA}}:attempts`, attempt)) === 1,
    (await client.hexists(`gmp:1:{${attempt}}:meta`, `by:${REPLICA}`)) === 1,
  ];
  const isListed = async (attempt: string) => [
    (await client.zscore('gmp:1:{all}:names', attempt)) !== null,
    (await client.zscore('gmp:1:{all}:live', attempt)) !== null,
  ];

  it('name an attempt and its replica once a call was admitted', async () => {
    const attempt = newAttempt();
    await admit(attempt, newCallId());
    assert.deepEqual(await isRegistered(attempt), [true, true]);
    assert.deepEqual(await isListed(attempt), [true, true]);
    assert.equal(await client.sismember('gmp:1:{all}:replicas', REPLICA), 1);
  });

  it('forget a replica in an attempt where it has had nothing to do for long, and has no call nor client left', async () => {
    const registrations = new Registrations(connection, REPLICA, -1);
    const [idle, pending, waiting] = [newAttempt(), newAttempt(), newAttempt()];
    for (const attempt of [idle, pending, waiting]) await registrations.ensure(attempt);
    await addCall(ledger, idle, ['task', 'a'], { admit: { replica: REPLICA } });
    await admit(pending, newCallId());
    const callId = newCallId();
    const resend = { requestDigest: 'body', idempotencyKey: null };
    await ledger.admit(admission(waiting, callId, { replica: REPLICA, resend }));
    await ledger.commit(record(waiting, callId, ['task', 'a']));
    await registrations.releaseIdle();
    assert.deepEqual(await isRegistered(idle), [false, false]);
    assert.deepEqual(await isRegistered(pending), [true, true]);
    assert.deepEqual(await isRegistered(waiting), [true, true]);
    // The ledger believes that it is registered; the attempt knows better.
    assert.equal((await admit(idle, newCallId())).kind, 'admitted');
    assert.deepEqual(await isRegistered(idle), [true, true]);
  });

  it('register anew who comes while a registration ends', async () => {
    const registrations = new Registrations(connection, REPLICA, -1);
    const attempt = newAttempt();
    assert.equal(await registrations.ensure(attempt), true);
    assert.equal(await registrations.ensure(attempt), false);
    const [, isNew] = await Promise.all([registrations.releaseIdle(), registrations.ensure(attempt)]);
    assert.equal(isNew, true);
    assert.equal(await client.sismember(`gmp:1:{replica:${REPLICA}}:attempts`, attempt), 1);
  });

  it('keep a name for a while after a registration: an admission may be on its way', async () => {
    const attempt = newAttempt();
    await connection.run('register', '', [attempt, REPLICA]);
    await connection.run('unlist', '', [attempt, '60', '1']);
    assert.deepEqual(await isListed(attempt), [true, true]);
    await connection.run('unlist', '', [attempt, '0', '0']);
    assert.deepEqual(await isListed(attempt), [true, false]);
    await connection.run('unlist', '', [attempt, '0', '1']);
    assert.deepEqual(await isListed(attempt), [false, false]);
  });

  it('name attempts that were closed or retired before anybody used them', async () => {
    const [closed, retired] = [newAttempt(), newAttempt()];
    await ledger.close(closed);
    await ledger.retire([retired]);
    assert.deepEqual(await isListed(closed), [true, true]);
    assert.deepEqual(await isListed(retired), [true, true]);
    assert.deepEqual(await isRegistered(closed), [false, false]);
  });

  it('tell the latest activity to the second', async () => {
    const attempt = newAttempt();
    const lastAfter = async (admittedAtS: number) => {
      await ledger.admit(admission(attempt, newCallId(), { replica: REPLICA, admittedAtS }));
      return client.hget(`gmp:1:{${attempt}}:meta`, 'last');
    };
    assert.equal(await lastAfter(1000.25), '1000.25');
    assert.equal(await lastAfter(1001), '1000.25');
    assert.equal(await lastAfter(1001.25), '1001.25');
    assert.equal(await lastAfter(1000.5), '1001.25');
  });

  it('do not grow with calls whose reply nobody will be given', async () => {
    const attempt = newAttempt();
    const resend = { requestDigest: 'body', idempotencyKey: null };
    for (let call = 0; call < 5; call += 1) {
      const callId = newCallId();
      await ledger.admit(admission(attempt, callId, { replica: REPLICA, resend }));
      await ledger.addFailure(attempt, callId, 'worker_capture_failed');
    }
    const listed = await client.hget(`gmp:1:{${attempt}}:resends`, 'd:body');
    assert.equal(listed?.trim().split(' ').length, 1);
  });
});
