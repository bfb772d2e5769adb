import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { type Ledger, LedgerUnavailable } from '../../src/ledger/ledger.ts';
import type { LedgerEvent, LedgerOptions } from '../../src/ledger/open-ledger.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import {
  addCall,
  admission,
  boundary,
  newAttempt,
  newCallId,
  parentOf,
  ROOT,
  record,
  until,
} from './ledger/builders.ts';
import { LossyProxy } from './ledger/lossy-proxy.ts';
import { openRedisLedger } from './ledger/redis-store.ts';

describe('a Redis ledger and its connection', () => {
  let server: RedisServer;
  let proxy: LossyProxy;
  /** Straight to the server, past the proxy. */
  let client: Redis;
  before(async () => {
    server = await startRedis();
    proxy = await LossyProxy.start(server.port);
    client = new Redis(server.port, { lazyConnect: true });
    await client.connect();
  });
  after(async () => {
    client?.disconnect();
    await proxy?.stop();
    await server?.stop();
  });
  const withLedger = async (options: Partial<LedgerOptions>, use: (ledger: Ledger) => Promise<void>) => {
    const ledger = await openRedisLedger(proxy.url, { replica: 'one', leaseS: 60, ...options });
    try {
      await use(ledger);
    } finally {
      proxy.mode = 'pass';
      await ledger.stop();
    }
  };
  const snapshotOf = async (ledger: Ledger, attempt: string) => {
    const snapshot = await ledger.snapshot(attempt);
    assert.ok(snapshot !== 'retired');
    return snapshot;
  };

  describe('an operation whose answer is lost runs again, with the same outcome', () => {
    /** Each: what has to be there before, the operation, what it must answer. */
    const resend = { requestDigest: 'body', idempotencyKey: null };
    const cases: Record<
      string,
      (ledger: Ledger, attempt: string, lose: () => void) => Promise<[actual: unknown, expected: unknown]>
    > = {
      'admit, a root': async (ledger, attempt, lose) => {
        await ledger.admit(admission(attempt, newCallId()));
        lose();
        return [await ledger.admit(admission(attempt, newCallId())), ROOT];
      },
      'admit, the first of an attempt': async (ledger, attempt, lose) => {
        lose();
        return [await ledger.admit(admission(attempt, newCallId())), ROOT];
      },
      'admit, a continuation': async (ledger, attempt, lose) => {
        const parent = await addCall(ledger, attempt, ['task', 'a']);
        lose();
        return [
          parentOf(await ledger.admit(admission(attempt, newCallId(), { boundary: boundary(['task', 'a']) }))),
          parent,
        ];
      },
      'admit, a re-send': async (ledger, attempt, lose) => {
        const callId = newCallId();
        await ledger.admit(admission(attempt, callId, { resend }));
        await ledger.clientGone(attempt, callId);
        lose();
        const joined = await ledger.admit(admission(attempt, newCallId(), { resend }));
        assert.equal((await ledger.admit(admission(attempt, newCallId(), { resend }))).kind, 'admitted');
        return [joined, { kind: 'joined', callId }];
      },
      'admit, unresolved': async (ledger, attempt, lose) => {
        await addCall(ledger, attempt, ['task', 'a']);
        lose();
        const request = admission(attempt, newCallId(), { boundary: boundary(['x']), onUnmatched: 'root_if_fresh' });
        const outcome = await ledger.admit(request);
        assert.equal((await snapshotOf(ledger, attempt)).failures.length, 1);
        return [outcome, { kind: 'unresolved' }];
      },
      commit: async (ledger, attempt, lose) => {
        const callId = newCallId();
        await ledger.admit(admission(attempt, callId));
        lose();
        const outcome = await ledger.commit(record(attempt, callId, ['task', 'a'], { recordJson: '{"n":1}' }));
        assert.deepEqual(await ledger.records(attempt, 0, 10), ['{"n":1}']);
        assert.ok(['committed', 'already_committed'].includes(outcome));
        return [(await snapshotOf(ledger, attempt)).pendingCallIds, []];
      },
      settleRefused: async (ledger, attempt, lose) => {
        const callId = newCallId();
        await ledger.admit(admission(attempt, callId));
        lose();
        const outcome = await ledger.settleRefused(attempt, callId, 'worker_unreachable');
        assert.equal((await snapshotOf(ledger, attempt)).refused.length, 1);
        return [outcome, true];
      },
      addFailure: async (ledger, attempt, lose) => {
        const callId = newCallId();
        await ledger.admit(admission(attempt, callId));
        lose();
        const outcome = await ledger.addFailure(attempt, callId, 'worker_capture_failed');
        assert.equal((await snapshotOf(ledger, attempt)).failures.length, 1);
        return [outcome, true];
      },
      close: async (ledger, attempt, lose) => {
        lose();
        return [await ledger.close(attempt), 'closed'];
      },
      retire: async (ledger, attempt, lose) => {
        await addCall(ledger, attempt, ['task', 'a']);
        lose();
        return [await ledger.retire([attempt]), { removed: [attempt], absent: [] }];
      },
      delete: async (ledger, attempt, lose) => {
        await addCall(ledger, attempt, ['task', 'a']);
        lose();
        return [await ledger.delete([attempt]), { removed: [attempt], absent: [] }];
      },
      snapshot: async (ledger, attempt, lose) => {
        const callId = await addCall(ledger, attempt, ['task', 'a']);
        lose();
        return [(await snapshotOf(ledger, attempt)).attemptedCallIds, [callId]];
      },
    };
    for (const [name, run] of Object.entries(cases)) {
      for (const losses of [1, 2, 3]) {
        it(`${name}, lost ${losses} times`, async () => {
          await withLedger({}, async (ledger) => {
            const [actual, expected] = await run(ledger, newAttempt(), () => proxy.loseAnswers(losses));
            assert.deepEqual(actual, expected);
            // What follows on the same connection takes the losses that the operation did not meet.
            await until(async () => (await ledger.unsettled('x')) === 0 && proxy.lossesLeft === 0);
          });
        });
      }
    }
  });

  it('goes on by itself after every connection was cut, with many operations in flight', async () => {
    await withLedger({}, async (ledger) => {
      const attempts = Array.from({ length: 8 }, newAttempt);
      let isDone = false;
      const cutting = (async () => {
        while (!isDone) {
          await new Promise((resolve) => setTimeout(resolve, 15));
          proxy.cutAll();
        }
      })();
      await Promise.all(
        attempts.map(async (attempt) => {
          for (let call = 0; call < 50; call += 1) {
            const callId = newCallId();
            assert.equal((await ledger.admit(admission(attempt, callId))).kind, 'admitted');
            const outcome = await ledger.commit(record(attempt, callId, ['task', callId], { recordJson: callId }));
            assert.ok(['committed', 'already_committed'].includes(outcome), outcome);
          }
        }),
      );
      isDone = true;
      await cutting;
      for (const attempt of attempts) {
        const snapshot = await snapshotOf(ledger, attempt);
        assert.deepEqual(
          [snapshot.recordCount, snapshot.attemptedCallIds.length, snapshot.pendingCallIds],
          [50, 50, []],
        );
        assert.deepEqual(await ledger.records(attempt, 0, 100), snapshot.attemptedCallIds);
      }
    });
  });

  for (const mode of ['refuse', 'silent'] as const) {
    it(`throws LedgerUnavailable when nothing answers in time (${mode}), and goes on when it does`, async () => {
      const events: LedgerEvent[] = [];
      await withLedger({ operationTimeoutMs: 1000, onEvent: (event) => events.push(event) }, async (ledger) => {
        const attempt = newAttempt();
        const callId = await addCall(ledger, attempt, ['task', 'a']);
        proxy.mode = mode;
        if (mode === 'refuse') {
          proxy.cutAll();
          await until(async () => events.some(({ kind }) => kind === 'disconnected'));
        }
        const refused = await ledger.admit(admission(attempt, newCallId())).catch((error: unknown) => error);
        assert.ok(refused instanceof LedgerUnavailable);
        // Without a connection nothing has left, so nothing has to be taken back later.
        assert.equal(refused.mayHappen, mode === 'silent');
        await assert.rejects(ledger.commit(record(attempt, callId, ['task', 'a'])), LedgerUnavailable);
        await assert.rejects(
          ledger.snapshot(attempt),
          /LedgerUnavailable: Redis could not run snapshot within 1000 ms/,
        );
        const [reachable] = await ledger.check();
        assert.equal(reachable?.ok, false);
        proxy.mode = 'pass';
        if (mode === 'silent') proxy.cutAll();
        await until(async () => {
          try {
            return (await ledger.commit(record(attempt, callId, ['task', 'a']))) === 'already_committed';
          } catch (error) {
            assert.ok(error instanceof LedgerUnavailable);
            return false;
          }
        });
        assert.ok(events.some(({ kind }) => kind === 'disconnected'));
        assert.equal(events.at(-1)?.kind, 'connected');
      });
    });
  }

  it('finds out by itself that a server has vanished without a word', async () => {
    await withLedger({ operationTimeoutMs: 20_000 }, async (ledger) => {
      const attempt = newAttempt();
      await addCall(ledger, attempt, ['task', 'a']);
      proxy.mode = 'silent';
      const snapshot = ledger.snapshot(attempt);
      // What was lost stays lost; only what is sent later gets through.
      setTimeout(() => {
        proxy.mode = 'pass';
      }, 200);
      const kept = await snapshot;
      assert.ok(kept !== 'retired');
      assert.equal(kept.recordCount, 1);
    });
  });

  it('does not start without a server, and says why', async () => {
    proxy.mode = 'refuse';
    await assert.rejects(openRedisLedger(proxy.url, { operationTimeoutMs: 1000 }), LedgerUnavailable);
    proxy.mode = 'pass';
    await assert.rejects(
      openRedisLedger('redis://127.0.0.1:1', { operationTimeoutMs: 1000 }),
      /LedgerUnavailable: Redis could not run EXISTS within 1000 ms: .*ECONNREFUSED/,
    );
  });

  describe('an admission that was given up', () => {
    const sweepIfReachable = async (ledger: Ledger) => {
      try {
        await ledger.sweep();
      } catch (error) {
        assert.ok(error instanceof LedgerUnavailable, String(error));
      }
    };
    const lostAdmission = async (ledger: Ledger, attempt: string, callId: string) => {
      await ledger.admit(admission(attempt, newCallId()));
      proxy.mode = 'lose_answers';
      await assert.rejects(ledger.admit(admission(attempt, callId)), LedgerUnavailable);
      proxy.cutAll();
      proxy.mode = 'pass';
    };

    it('is settled as refused by the next sweep, for its call never ran', async () => {
      const events: LedgerEvent[] = [];
      await withLedger({ operationTimeoutMs: 1000, onEvent: (event) => events.push(event) }, async (ledger) => {
        const [attempt, callId] = [newAttempt(), newCallId()];
        await lostAdmission(ledger, attempt, callId);
        await until(async () => {
          await sweepIfReachable(ledger);
          return (await client.zcard(`gmp:1:{${attempt}}:refused`)) === 1;
        });
        const snapshot = await snapshotOf(ledger, attempt);
        assert.deepEqual(snapshot.refused, [{ callId, code: 'ledger_unavailable' }]);
        assert.ok(!snapshot.pendingCallIds.includes(callId));
        assert.deepEqual(
          events.filter(({ kind }) => kind === 'admission_voided'),
          [{ kind: 'admission_voided', attempt, callId }],
        );
      });
    });

    it('records nothing when it arrives after that', async () => {
      await withLedger({ operationTimeoutMs: 1000 }, async (ledger) => {
        const [attempt, callId] = [newAttempt(), newCallId()];
        await ledger.admit(admission(attempt, newCallId()));
        proxy.mode = 'refuse';
        proxy.cutAll();
        await assert.rejects(ledger.admit(admission(attempt, callId)), LedgerUnavailable);
        proxy.mode = 'pass';
        await until(async () => {
          await sweepIfReachable(ledger);
          return (await client.hexists(`gmp:1:{${attempt}}:voided`, callId)) === 1;
        });
        const late = await openRedisLedger(server.url, { replica: 'late' });
        await assert.rejects(late.admit(admission(attempt, callId)), /was given up; admit the call under another id/);
        await late.stop();
        assert.ok(!(await snapshotOf(ledger, attempt)).attemptedCallIds.includes(callId));
      });
    });

    it('is no longer given up when it is tried once more before', async () => {
      await withLedger({ operationTimeoutMs: 1000 }, async (ledger) => {
        const [attempt, callId] = [newAttempt(), newCallId()];
        await lostAdmission(ledger, attempt, callId);
        await until(async () => {
          try {
            return (await ledger.admit(admission(attempt, callId))).kind === 'admitted';
          } catch (error) {
            assert.ok(error instanceof LedgerUnavailable);
            return false;
          }
        });
        await ledger.sweep();
        const snapshot = await snapshotOf(ledger, attempt);
        assert.deepEqual(snapshot.refused, []);
        assert.equal(await ledger.commit(record(attempt, callId, ['task', 'a'])), 'committed');
      });
    });

    it('gives back what it had joined', async () => {
      await withLedger({ operationTimeoutMs: 1000 }, async (ledger) => {
        const [attempt, callId] = [newAttempt(), newCallId()];
        const resend = { requestDigest: 'body', idempotencyKey: null };
        await ledger.admit(admission(attempt, callId, { resend }));
        await ledger.clientGone(attempt, callId);
        proxy.mode = 'lose_answers';
        await assert.rejects(ledger.admit(admission(attempt, newCallId(), { resend })), LedgerUnavailable);
        proxy.cutAll();
        proxy.mode = 'pass';
        await until(async () => {
          await sweepIfReachable(ledger);
          return (await client.hget(`gmp:1:{${attempt}}:waited`, callId)) === null;
        });
        assert.deepEqual(await ledger.admit(admission(attempt, newCallId(), { resend })), { kind: 'joined', callId });
      });
    });
  });

  it('says at once that the server is out of memory, records nothing, and goes on when it is not', async () => {
    await withLedger({}, async (ledger) => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      const [retired, deleted] = [newAttempt(), newAttempt()];
      await ledger.admit(admission(attempt, callId));
      for (const done of [retired, deleted]) await ledger.admit(admission(done, newCallId()));
      await client.config('SET', 'maxmemory', '1');
      try {
        await assert.rejects(ledger.admit(admission(attempt, newCallId())), /LedgerUnavailable: .*maxmemory/);
        await assert.rejects(ledger.commit(record(attempt, callId, ['task', 'a'])), /LedgerUnavailable: .*maxmemory/);
        // What makes room again goes through.
        assert.deepEqual(await ledger.retire([retired]), { removed: [retired], absent: [] });
        assert.deepEqual(await ledger.delete([deleted]), { removed: [deleted], absent: [] });
        assert.equal(await ledger.snapshot(retired), 'retired');
      } finally {
        await client.config('SET', 'maxmemory', '0');
      }
      const snapshot = await snapshotOf(ledger, attempt);
      assert.deepEqual([snapshot.attemptedCallIds, snapshot.recordCount], [[callId], 0]);
      assert.equal(await ledger.commit(record(attempt, callId, ['task', 'a'])), 'committed');
    });
  });

  it('knows an answer that is a defect from an outage', async () => {
    await withLedger({}, async (ledger) => {
      const attempt = newAttempt();
      await client.set(`gmp:1:{${attempt}}:meta`, 'not what belongs here');
      await assert.rejects(ledger.admit(admission(attempt, newCallId())), (error: Error) => {
        assert.ok(!(error instanceof LedgerUnavailable));
        assert.match(error.message, /WRONGTYPE/);
        return true;
      });
    });
  });
});
