import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { addCall, admission, newAttempt, newCallId, record } from './builders.ts';

export function settling(under: LedgerUnderTest): void {
  const admitted = async () => {
    const [attempt, callId] = [newAttempt(), newCallId()];
    await under.ledger.admit(admission(attempt, callId));
    return { attempt, callId };
  };
  const snapshotOf = async (attempt: string) => {
    const snapshot = await under.ledger.snapshot(attempt);
    assert.ok(snapshot !== 'retired');
    return snapshot;
  };

  describe('settleRefused', () => {
    it('makes an intent neither pending nor failed, once', async () => {
      const { attempt, callId } = await admitted();
      assert.equal(await under.ledger.settleRefused(attempt, callId, 'context_length_exceeded'), true);
      assert.equal(await under.ledger.settleRefused(attempt, callId, 'context_length_exceeded'), true);
      const snapshot = await snapshotOf(attempt);
      assert.deepEqual(snapshot.refused, [{ callId, code: 'context_length_exceeded' }]);
      assert.deepEqual([snapshot.pendingCallIds, snapshot.failures], [[], []]);
      assert.equal(await under.ledger.unsettled(attempt), 0);
    });

    it('takes away the failure rows of that call only', async () => {
      const { attempt, callId } = await admitted();
      const other = newCallId();
      await under.ledger.admit(admission(attempt, other));
      for (const id of [callId, other])
        await under.ledger.addFailure(attempt, id, 'request_finished_without_staged_coordinates');
      assert.equal(await under.ledger.settleRefused(attempt, callId, 'context_length_exceeded'), true);
      const snapshot = await snapshotOf(attempt);
      assert.deepEqual(
        snapshot.failures.map((row) => row.callId),
        [other],
      );
      assert.deepEqual(snapshot.pendingCallIds, [other]);
      assert.equal(await under.ledger.addFailure(attempt, callId, 'worker_capture_failed'), false);
    });

    it('lists refusals in the order of admission', async () => {
      const { attempt, callId: first } = await admitted();
      const second = newCallId();
      await under.ledger.admit(admission(attempt, second));
      await under.ledger.settleRefused(attempt, second, 'worker_unreachable');
      await under.ledger.settleRefused(attempt, first, 'context_length_exceeded');
      const { refused } = await snapshotOf(attempt);
      assert.deepEqual(
        refused.map(({ callId }) => callId),
        [first, second],
      );
    });

    it('does nothing to a call that has committed or is not known', async () => {
      const attempt = newAttempt();
      const callId = await addCall(under.ledger, attempt, ['task', 'a']);
      assert.equal(await under.ledger.settleRefused(attempt, callId, 'x'), false);
      assert.equal(await under.ledger.settleRefused(attempt, newCallId(), 'x'), false);
      assert.equal(await under.ledger.settleRefused(newAttempt(), callId, 'x'), false);
      assert.deepEqual((await snapshotOf(attempt)).refused, []);
    });
  });

  describe('addFailure', () => {
    it('collapses identical rows, keeps different reasons in order, and leaves the call pending', async () => {
      const { attempt, callId } = await admitted();
      for (const reason of [
        'worker_capture_failed',
        'invalid_worker_commit_coordinates',
        'worker_capture_failed',
      ] as const) {
        assert.equal(await under.ledger.addFailure(attempt, callId, reason), true);
      }
      const snapshot = await snapshotOf(attempt);
      assert.deepEqual(snapshot.failures, [
        { callId, reason: 'worker_capture_failed' },
        { callId, reason: 'invalid_worker_commit_coordinates' },
      ]);
      assert.deepEqual(snapshot.pendingCallIds, [callId]);
    });

    it('takes a row for a committed call', async () => {
      const attempt = newAttempt();
      const callId = await addCall(under.ledger, attempt, ['task', 'a']);
      assert.equal(await under.ledger.addFailure(attempt, callId, 'worker_capture_failed'), true);
      const snapshot = await snapshotOf(attempt);
      assert.deepEqual([snapshot.failures.length, snapshot.pendingCallIds, snapshot.recordCount], [1, [], 1]);
      assert.equal(await under.ledger.unsettled(attempt), 0);
    });

    it('does not know calls without an intent, nor retired attempts', async () => {
      const { attempt, callId } = await admitted();
      assert.equal(await under.ledger.addFailure(attempt, newCallId(), 'worker_capture_failed'), false);
      assert.equal(await under.ledger.addFailure(newAttempt(), callId, 'worker_capture_failed'), false);
      await under.ledger.retire([attempt]);
      assert.equal(await under.ledger.addFailure(attempt, callId, 'worker_capture_failed'), false);
      assert.equal(await under.ledger.snapshot(attempt), 'retired');
    });
  });

  describe('unsettled', () => {
    it('counts intents that neither committed, nor were refused, nor have a failure row', async () => {
      const attempt = newAttempt();
      assert.equal(await under.ledger.unsettled(attempt), 0);
      const ids = [newCallId(), newCallId(), newCallId(), newCallId()];
      for (const callId of ids) await under.ledger.admit(admission(attempt, callId));
      assert.equal(await under.ledger.unsettled(attempt), 4);
      await under.ledger.commit(record(attempt, ids[0]!, ['task', 'a']));
      await under.ledger.settleRefused(attempt, ids[1]!, 'worker_unreachable');
      await under.ledger.addFailure(attempt, ids[2]!, 'worker_capture_failed');
      assert.equal(await under.ledger.unsettled(attempt), 1);
      await under.ledger.commit(record(attempt, ids[2]!, ['task', 'b']));
      assert.equal(await under.ledger.unsettled(attempt), 1);
    });
  });

  describe('changed', () => {
    for (const [what, change] of [
      ['a commit', (attempt: string, callId: string) => under.ledger.commit(record(attempt, callId, ['task', 'a']))],
      [
        'a refusal',
        (attempt: string, callId: string) => under.ledger.settleRefused(attempt, callId, 'worker_unreachable'),
      ],
      [
        'a failure row',
        (attempt: string, callId: string) => under.ledger.addFailure(attempt, callId, 'worker_capture_failed'),
      ],
      ['retirement', (attempt: string) => under.ledger.retire([attempt])],
    ] as const) {
      it(`resolves at ${what}`, async () => {
        const { attempt, callId } = await admitted();
        const changed = under.ledger.changed(attempt, 60_000);
        await change(attempt, callId);
        await changed;
      });
    }

    it('resolves when the time is up', async () => {
      await under.ledger.changed(newAttempt(), 1);
    });
  });
}
