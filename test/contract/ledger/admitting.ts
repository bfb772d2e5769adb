import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AttemptSnapshot } from '../../../src/ledger/ledger.ts';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { addCall, admission, boundary, newAttempt, newCallId, parentOf, ROOT, record, refusal } from './builders.ts';

export function admitting(under: LedgerUnderTest): void {
  describe('admit', () => {
    it('records a pending intent in an attempt that nobody has used before', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      assert.deepEqual(await under.ledger.admit(admission(attempt, callId)), ROOT);
      assert.deepEqual(await under.ledger.snapshot(attempt), {
        state: 'open',
        recordCount: 0,
        attemptedCallIds: [callId],
        pendingCallIds: [callId],
        failures: [],
        refused: [],
        whyRoot: [],
      });
    });

    it('gives the same outcome again for the same id, whatever happened since, and records nothing more', async () => {
      const attempt = newAttempt();
      const parent = await addCall(under.ledger, attempt, ['task', 'answer']);
      const request = admission(attempt, newCallId(), { boundary: boundary(['task', 'answer']) });
      const first = await under.ledger.admit(request);
      assert.equal(parentOf(first), parent);
      assert.deepEqual(await under.ledger.admit({ ...request }), first);
      // A second match would make a new admission ambiguous.
      await addCall(under.ledger, attempt, ['task', 'answer']);
      await under.ledger.close(attempt);
      assert.deepEqual(await under.ledger.admit(request), first);
      await under.ledger.commit(record(attempt, request.callId, ['task', 'answer', 'next', 'done'], { parent }));
      assert.deepEqual(await under.ledger.admit(request), first);
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.equal(snapshot.attemptedCallIds.filter((id) => id === request.callId).length, 1);
    });

    it('refuses the same id for other data, and changes nothing', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, callId));
      const others = [
        { boundary: boundary(['task', 'answer']) },
        { namedParent: null },
        { admittedAtS: 1_700_000_001.5 },
        { resend: { requestDigest: 'd', idempotencyKey: null } },
      ];
      for (const other of others) {
        assert.deepEqual(await under.ledger.admit(admission(attempt, callId, other)), refusal('duplicate_call'));
      }
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual(snapshot.attemptedCallIds, [callId]);
    });

    it('records one intent for two admissions of one id at the same time', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      const request = admission(attempt, callId);
      const outcomes = await Promise.all([under.ledger.admit(request), under.ledger.admit(request)]);
      assert.deepEqual(outcomes, [ROOT, ROOT]);
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual(snapshot.attemptedCallIds, [callId]);
    });

    it('keeps attempts apart, also for the same id', async () => {
      const [one, other, callId] = [newAttempt(), newAttempt(), newCallId()];
      await addCall(under.ledger, one, ['task', 'answer'], { callId });
      const outcome = await under.ledger.admit(admission(other, callId, { boundary: boundary(['task', 'answer']) }));
      assert.deepEqual(outcome, ROOT);
    });

    it('refuses a closed attempt and records nothing', async () => {
      const attempt = newAttempt();
      const callId = await addCall(under.ledger, attempt, ['task', 'answer']);
      await under.ledger.close(attempt);
      assert.deepEqual(await under.ledger.admit(admission(attempt, newCallId())), refusal('attempt_closed'));
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual([snapshot.attemptedCallIds, snapshot.state], [[callId], 'closed']);
    });

    it('refuses a retired attempt', async () => {
      const attempt = newAttempt();
      await under.ledger.retire([attempt]);
      assert.deepEqual(await under.ledger.admit(admission(attempt, newCallId())), refusal('attempt_retired'));
    });

    it('refuses calls beyond maxCalls, whatever became of those before', async () => {
      const attempt = newAttempt();
      await addCall(under.ledger, attempt, ['task', 'answer']);
      const refused = newCallId();
      await under.ledger.admit(admission(attempt, refused, { maxCalls: 2 }));
      await under.ledger.settleRefused(attempt, refused, 'context_length_exceeded');
      assert.deepEqual(
        await under.ledger.admit(admission(attempt, newCallId(), { maxCalls: 2 })),
        refusal('too_many_calls'),
      );
      assert.equal((await under.ledger.admit(admission(attempt, newCallId(), { maxCalls: 3 }))).kind, 'admitted');
    });

    it('serves or refuses calls after a failure, as it is told', async () => {
      const [attempt, failed] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, failed));
      await under.ledger.addFailure(attempt, failed, 'worker_capture_failed');
      const refuse = admission(attempt, newCallId(), { afterFailure: 'refuse', maxCalls: 1 });
      assert.deepEqual(await under.ledger.admit(refuse), refusal('attempt_incomplete'));
      assert.equal((await under.ledger.admit(admission(attempt, newCallId()))).kind, 'admitted');
    });

    it('tells how many records a call could see', async () => {
      const attempt = newAttempt();
      await addCall(under.ledger, attempt, ['one', 'a']);
      await under.ledger.admit(admission(attempt, newCallId()));
      await addCall(under.ledger, attempt, ['two', 'b']);
      const outcome = await under.ledger.admit(admission(attempt, newCallId()));
      assert.ok(outcome.kind === 'admitted');
      assert.equal(outcome.recordsSeen, 2);
    });

    it('leaves unresolved what schema 2 cannot place: a failure row, no intent, the same again', async () => {
      const attempt = newAttempt();
      await addCall(under.ledger, attempt, ['task', 'answer']);
      const request = admission(attempt, newCallId(), { boundary: boundary(['other']), onUnmatched: 'root_if_fresh' });
      assert.deepEqual(await under.ledger.admit(request), { kind: 'unresolved' });
      assert.deepEqual(await under.ledger.admit(request), { kind: 'unresolved' });
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.equal(snapshot.attemptedCallIds.length, 1);
      assert.deepEqual(snapshot.pendingCallIds, []);
      assert.deepEqual(snapshot.failures, [{ callId: request.callId, reason: 'unresolved_parent' }]);
    });

    it('joins nothing to what it left unresolved: a re-send is left so too, with a row of its own', async () => {
      const attempt = newAttempt();
      await addCall(under.ledger, attempt, ['task', 'answer']);
      for (const idempotencyKey of [null, 'key']) {
        const resend = { requestDigest: `body ${idempotencyKey}`, idempotencyKey };
        const before = (await under.ledger.snapshot(attempt)) as AttemptSnapshot;
        const ids = [newCallId(), newCallId()];
        for (const callId of ids) {
          const options = { boundary: boundary(['other']), onUnmatched: 'root_if_fresh', resend } as const;
          assert.deepEqual(await under.ledger.admit(admission(attempt, callId, options)), { kind: 'unresolved' });
        }
        const after = (await under.ledger.snapshot(attempt)) as AttemptSnapshot;
        assert.deepEqual(after.failures, [
          ...before.failures,
          ...ids.map((callId) => ({ callId, reason: 'unresolved_parent' })),
        ]);
        assert.deepEqual(after.attemptedCallIds, before.attemptedCallIds);
      }
    });

    it('takes an attempt with neither record nor failure for fresh under schema 2', async () => {
      const attempt = newAttempt();
      const admit = () =>
        under.ledger.admit(
          admission(attempt, newCallId(), { boundary: boundary(['other']), onUnmatched: 'root_if_fresh' }),
        );
      const pending = newCallId();
      await under.ledger.admit(admission(attempt, pending));
      assert.equal((await admit()).kind, 'admitted');
      await under.ledger.addFailure(attempt, pending, 'worker_capture_failed');
      assert.deepEqual(await admit(), { kind: 'unresolved' });
    });
  });
}
