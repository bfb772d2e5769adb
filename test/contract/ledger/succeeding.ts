import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { LedgerEvent, LedgerOptions } from '../../../src/ledger/open-ledger.ts';
import { addCall, admission, newAttempt, newCallId, nowS, record, type StoreUnderTest, until } from './builders.ts';

const ORPHANED = 'request_finished_without_staged_coordinates';

/** What one process leaves to the next, and what happens as time passes: on stores of their own, since sweeps touch all attempts. */
export function succeeding(createStore: () => Promise<StoreUnderTest>): void {
  describe('with a store of its own', () => {
    let store: StoreUnderTest;
    before(async () => {
      store = await createStore();
    });
    after(() => store?.destroy());
    const withLedger = async (options: Partial<LedgerOptions>, use: (ledger: Ledger) => Promise<void>) => {
      const ledger = await store.open(options);
      try {
        await use(ledger);
      } finally {
        await ledger.stop();
      }
    };
    const snapshotOf = async (ledger: Ledger, attempt: string) => {
      const snapshot = await ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      return snapshot;
    };

    it('keeps everything across a restart', async () => {
      const attempt = newAttempt();
      let before: unknown;
      await withLedger({ replica: 'one' }, async (ledger) => {
        await addCall(ledger, attempt, ['task', 'a'], { recordJson: '{"n":1}' });
        await ledger.close(attempt);
        before = await ledger.snapshot(attempt);
      });
      await withLedger({ replica: 'two' }, async (ledger) => {
        assert.deepEqual(await ledger.snapshot(attempt), before);
        assert.deepEqual(await ledger.records(attempt, 0, 10), ['{"n":1}']);
      });
    });

    it('settles what a dead replica left: a failure row for each pending intent without one', async () => {
      const [attempt, other, retired] = [newAttempt(), newAttempt(), newAttempt()];
      const [pending, failed, refused, elsewhere] = [newCallId(), newCallId(), newCallId(), newCallId()];
      await withLedger({ replica: 'one' }, async (ledger) => {
        const admit = (name: string, callId: string) => ledger.admit(admission(name, callId, { replica: 'one' }));
        await addCall(ledger, attempt, ['task', 'a'], { admit: { replica: 'one' } });
        for (const callId of [pending, failed, refused]) await admit(attempt, callId);
        await ledger.addFailure(attempt, failed, 'worker_capture_failed');
        await ledger.settleRefused(attempt, refused, 'worker_unreachable');
        await admit(other, elsewhere);
        await admit(retired, newCallId());
        await ledger.retire([retired]);
      });
      await withLedger({ replica: 'two' }, async (ledger) => {
        const mine = newCallId();
        await ledger.admit(admission(attempt, mine, { replica: 'two' }));
        assert.equal(await ledger.unsettled(attempt), 2);
        assert.deepEqual(await ledger.sweep(), { deadReplicas: ['one'], settledCalls: 2 });
        const snapshot = await snapshotOf(ledger, attempt);
        assert.deepEqual(snapshot.failures, [
          { callId: failed, reason: 'worker_capture_failed' },
          { callId: pending, reason: ORPHANED },
        ]);
        assert.deepEqual(snapshot.pendingCallIds, [pending, failed, mine]);
        assert.deepEqual((await snapshotOf(ledger, other)).failures, [{ callId: elsewhere, reason: ORPHANED }]);
        assert.equal(await ledger.unsettled(attempt), 1);
        assert.deepEqual(await ledger.sweep(), { deadReplicas: [], settledCalls: 0 });
        assert.equal(await ledger.unsettled(attempt), 1);
        // A worker may still answer to somebody who can commit it.
        assert.equal(await ledger.commit(record(attempt, pending, ['task', 'late'])), 'committed');
        assert.deepEqual((await snapshotOf(ledger, attempt)).pendingCallIds, [failed, mine]);
      });
    });

    it('takes the clients of a dead replica for gone, and keeps their replies', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      const resend = { requestDigest: 'body', idempotencyKey: null };
      await withLedger({ replica: 'one' }, async (ledger) => {
        await ledger.admit(admission(attempt, callId, { replica: 'one', resend }));
        await ledger.commit(record(attempt, callId, ['task', 'a'], { replyJson: '{"the":"reply"}' }));
      });
      await withLedger({ replica: 'two' }, async (ledger) => {
        await ledger.sweep();
        const again = await ledger.admit(admission(attempt, newCallId(), { replica: 'two', resend }));
        assert.deepEqual(again, { kind: 'joined', callId });
        assert.deepEqual(await ledger.replyOf(attempt, callId), { kind: 'finished', replyJson: '{"the":"reply"}' });
      });
    });

    it('keeps replies within their bytes, the oldest going first', async () => {
      await withLedger({ replies: { keepBytes: 100, keepS: 900 } }, async (ledger) => {
        const attempt = newAttempt();
        const reply = (letter: string) => JSON.stringify(letter.repeat(38));
        const before = (await ledger.gauges()).keptReplyBytes;
        const add = (replyJson: string) => addCall(ledger, attempt, ['task', newCallId()], { replyJson });
        const ids = [
          await add(reply('a')),
          await add(reply('b')),
          await add(reply('c')),
          await add(JSON.stringify('d'.repeat(200))),
        ];
        const kinds = async () => Promise.all(ids.map(async (id) => (await ledger.replyOf(attempt, id)).kind));
        await until(async () => (await kinds())[0] === 'gone');
        assert.deepEqual(await kinds(), ['gone', 'finished', 'finished', 'gone']);
        assert.ok((await ledger.gauges()).keptReplyBytes <= 100);
        for (const id of ids) await ledger.delivered(attempt, id);
        assert.ok((await ledger.gauges()).keptReplyBytes <= before);
      });
    });

    it('keeps replies for their time; then a re-send is a call of its own', async () => {
      await withLedger({ replies: { keepBytes: 1_000_000, keepS: 0.05 } }, async (ledger) => {
        const attempt = newAttempt();
        const resend = { requestDigest: 'body', idempotencyKey: 'key' };
        const callId = await addCall(ledger, attempt, ['task', 'a'], { admit: { resend } });
        await until(async () => (await ledger.replyOf(attempt, callId)).kind === 'gone');
        const again = await ledger.admit(admission(attempt, newCallId(), { resend }));
        assert.equal(again.kind, 'admitted');
        await ledger.sweep();
        assert.equal((await ledger.gauges()).keptReplyBytes, 0);
      });
    });

    it('counts open attempts, pending calls and the age of the oldest one without a failure row', async () => {
      const fresh = await createStore();
      const ledger = await fresh.open();
      try {
        await ledger.sweep();
        assert.deepEqual(await ledger.gauges(), {
          openAttempts: 0,
          pendingCalls: 0,
          oldestPendingS: null,
          keptReplyBytes: 0,
        });
        const [one, two, three] = [newAttempt(), newAttempt(), newAttempt()];
        const failed = newCallId();
        await ledger.admit(admission(one, failed, { admittedAtS: 1000.5 }));
        await ledger.addFailure(one, failed, 'worker_capture_failed');
        await ledger.admit(admission(one, newCallId(), { admittedAtS: 3000.25 }));
        await ledger.admit(admission(two, newCallId(), { admittedAtS: 2000.25 }));
        await ledger.close(two);
        await addCall(ledger, three, ['task', 'a'], { replyJson: '"12345678"' });
        await until(async () => {
          await ledger.sweep();
          return (await ledger.gauges()).pendingCalls === 3;
        });
        assert.deepEqual(await ledger.gauges(), {
          openAttempts: 2,
          pendingCalls: 3,
          oldestPendingS: 2000.25,
          keptReplyBytes: 10,
        });
      } finally {
        await ledger.stop();
        await fresh.destroy();
      }
    });

    it('deletes attempts that were abandoned, never those with calls in flight', async () => {
      const events: LedgerEvent[] = [];
      const [old, oldFence, oldFailed, inFlight, recent] = [
        newAttempt(),
        newAttempt(),
        newAttempt(),
        newAttempt(),
        newAttempt(),
      ];
      let now = 1_700_000_000;
      const fresh = await createStore();
      const ledger = await fresh.open({
        abandonedAfterS: 3600,
        now: () => now,
        onEvent: (event) => events.push(event),
      });
      try {
        const admit = (attempt: string, callId: string) =>
          ledger.admit(admission(attempt, callId, { admittedAtS: now }));
        await addCall(ledger, old, ['task', 'a'], { admit: { admittedAtS: now } });
        await ledger.retire([oldFence]);
        const failed = newCallId();
        await admit(oldFailed, failed);
        await ledger.addFailure(oldFailed, failed, 'worker_capture_failed');
        await admit(inFlight, newCallId());
        now += 3000;
        await admit(recent, newCallId());
        await ledger.sweep();
        assert.deepEqual(
          events.filter(({ kind }) => kind === 'abandoned'),
          [],
        );
        now += 1000;
        const abandoned = () => events.flatMap((event) => (event.kind === 'abandoned' ? event.attempts : []));
        await until(async () => {
          await ledger.sweep();
          return abandoned().length === 3;
        });
        assert.deepEqual([...abandoned()].sort(), [old, oldFence, oldFailed].sort());
        assert.deepEqual(
          (await ledger.attempts(null, 10)).map(({ attempt }) => attempt),
          [inFlight, recent].sort(),
        );
        assert.equal((await snapshotOf(ledger, old)).recordCount, 0);
        assert.equal((await admit(oldFence, newCallId())).kind, 'admitted');
      } finally {
        await ledger.stop();
        await fresh.destroy();
      }
    });

    it('answers nothing after stop', async () => {
      const ledger = await store.open();
      await ledger.stop();
      await ledger.stop();
      await assert.rejects(ledger.unsettled(newAttempt()), {
        name: 'LedgerUnavailable',
        message: 'the ledger has been stopped',
      });
      await assert.rejects(ledger.admit(admission(newAttempt(), newCallId(), { admittedAtS: nowS() })), {
        name: 'LedgerUnavailable',
      });
    });
  });
}
