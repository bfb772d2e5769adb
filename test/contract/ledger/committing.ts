import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { addCall, admission, boundary, newAttempt, newCallId, parentOf, record } from './builders.ts';

export function committing(under: LedgerUnderTest): void {
  const pendingOf = async (attempt: string) => {
    const snapshot = await under.ledger.snapshot(attempt);
    assert.ok(snapshot !== 'retired');
    return snapshot.pendingCallIds;
  };
  const recordsOf = (attempt: string) => under.ledger.records(attempt, 0, 100);

  describe('commit', () => {
    it('keeps the very text of the record and clears the intent', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, callId));
      const recordJson = '{"admitted_at": 1.0,"big":90071992547409931234,"text":"\\u2028 ünï 漢 \u2029 😀"}';
      assert.equal(await under.ledger.commit(record(attempt, callId, ['task', 'a'], { recordJson })), 'committed');
      assert.deepEqual(await recordsOf(attempt), [recordJson]);
      assert.deepEqual(await pendingOf(attempt), []);
    });

    it('takes the same record twice and another one never', async () => {
      const attempt = newAttempt();
      const callId = await addCall(under.ledger, attempt, ['task', 'a'], { recordJson: '{"n":1}' });
      assert.equal(
        await under.ledger.commit(record(attempt, callId, ['task', 'a'], { recordJson: '{"n":1}' })),
        'already_committed',
      );
      assert.equal(
        await under.ledger.commit(record(attempt, callId, ['task', 'b'], { recordJson: '{"n":2}' })),
        'conflict',
      );
      assert.deepEqual(await recordsOf(attempt), ['{"n":1}']);
      const outcome = await under.ledger.admit(admission(attempt, newCallId(), { boundary: boundary(['task', 'b']) }));
      assert.equal(parentOf(outcome), null);
    });

    it('takes one of two records that are committed at the same time', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, callId));
      const outcomes = await Promise.all(
        ['{"n":1}', '{"n":2}', '{"n":1}'].map((recordJson) =>
          under.ledger.commit(record(attempt, callId, ['task', 'a'], { recordJson })),
        ),
      );
      assert.deepEqual([...outcomes].sort(), ['already_committed', 'committed', 'conflict']);
      assert.equal((await recordsOf(attempt)).length, 1);
    });

    it('drops records without an intent', async () => {
      const attempt = newAttempt();
      assert.equal(await under.ledger.commit(record(attempt, newCallId(), ['task', 'a'])), 'dropped');
      await addCall(under.ledger, attempt, ['task', 'a']);
      assert.equal(await under.ledger.commit(record(attempt, newCallId(), ['task', 'a'])), 'dropped');
      assert.equal((await recordsOf(attempt)).length, 1);
    });

    it('drops late records of a retired attempt', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, callId));
      await under.ledger.retire([attempt]);
      assert.equal(await under.ledger.commit(record(attempt, callId, ['task', 'a'])), 'dropped');
      assert.deepEqual(await recordsOf(attempt), []);
    });

    it('drops late records of a deleted attempt whose name is in use again', async () => {
      const [attempt, old] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, old));
      await under.ledger.delete([attempt]);
      const fresh = await addCall(under.ledger, attempt, ['task', 'a'], { recordJson: '{"fresh":1}' });
      assert.equal(await under.ledger.commit(record(attempt, old, ['task', 'a'])), 'dropped');
      assert.equal(await under.ledger.addFailure(attempt, old, 'worker_capture_failed'), false);
      assert.equal(await under.ledger.settleRefused(attempt, old, 'context_length_exceeded'), false);
      assert.deepEqual(await recordsOf(attempt), ['{"fresh":1}']);
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual([snapshot.attemptedCallIds, snapshot.failures, snapshot.refused], [[fresh], [], []]);
    });

    it('is a conflict after a refusal', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, callId));
      await under.ledger.settleRefused(attempt, callId, 'context_length_exceeded');
      assert.equal(await under.ledger.commit(record(attempt, callId, ['task', 'a'])), 'conflict');
      assert.deepEqual(await recordsOf(attempt), []);
    });

    it('takes the admitted parent or none, nothing else', async () => {
      const attempt = newAttempt();
      const parent = await addCall(under.ledger, attempt, ['task', 'a']);
      const other = await addCall(under.ledger, attempt, ['other', 'b']);
      const history = ['task', 'a', 'more', 'c'];
      const admit = async (changes = {}) => {
        const callId = newCallId();
        await under.ledger.admit(admission(attempt, callId, changes));
        return callId;
      };
      const continuation = await admit({ boundary: boundary(['task', 'a']) });
      assert.equal(await under.ledger.commit(record(attempt, continuation, history, { parent: other })), 'conflict');
      assert.equal(await under.ledger.commit(record(attempt, continuation, history, { parent: 'nobody' })), 'conflict');
      assert.deepEqual(await pendingOf(attempt), [continuation]);
      assert.equal(await under.ledger.commit(record(attempt, continuation, history, { parent })), 'committed');
      const root = await admit();
      assert.equal(await under.ledger.commit(record(attempt, root, ['x', 'y'], { parent })), 'conflict');
      const rooted = await admit({ boundary: boundary(['task', 'a']) });
      const why = '{"cause":"rooted_by_worker"}';
      assert.equal(
        await under.ledger.commit(record(attempt, rooted, ['task', 'a', 'q', 'd'], { whyRootJson: why })),
        'committed',
      );
      const next = await under.ledger.admit(
        admission(attempt, newCallId(), { boundary: boundary(['task', 'a', 'q', 'd']) }),
      );
      assert.ok(next.kind === 'admitted');
      assert.deepEqual(next.candidate?.stagingChain, [`${attempt}/${rooted}`]);
    });

    it('counts after a failure row and after close: pending is cleared, the row stays', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, callId));
      await under.ledger.addFailure(attempt, callId, 'request_finished_without_staged_coordinates');
      await under.ledger.close(attempt);
      assert.deepEqual(await pendingOf(attempt), [callId]);
      assert.equal(
        await under.ledger.commit(record(attempt, callId, ['task', 'a'], { recordJson: '{"late":1}' })),
        'committed',
      );
      assert.deepEqual(await under.ledger.snapshot(attempt), {
        state: 'closed',
        recordCount: 1,
        attemptedCallIds: [callId],
        pendingCallIds: [],
        failures: [{ callId, reason: 'request_finished_without_staged_coordinates' }],
        refused: [],
        whyRoot: [{ callId, json: '{"cause":"first_call"}' }],
      });
    });

    it('makes a late record a candidate', async () => {
      const [attempt, callId] = [newAttempt(), newCallId()];
      await under.ledger.admit(admission(attempt, callId));
      await under.ledger.addFailure(attempt, callId, 'request_finished_without_staged_coordinates');
      await under.ledger.commit(record(attempt, callId, ['task', 'a']));
      const outcome = await under.ledger.admit(admission(attempt, newCallId(), { boundary: boundary(['task', 'a']) }));
      assert.equal(parentOf(outcome), callId);
    });

    it('numbers records in the order of commits, not of admissions', async () => {
      const [attempt, ids] = [newAttempt(), [newCallId(), newCallId(), newCallId()]];
      for (const callId of ids) await under.ledger.admit(admission(attempt, callId));
      for (const callId of [ids[2]!, ids[0]!])
        await under.ledger.commit(record(attempt, callId, ['task', callId], { recordJson: callId }));
      assert.deepEqual(await recordsOf(attempt), [ids[2], ids[0]]);
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual(snapshot.attemptedCallIds, ids);
      assert.deepEqual(snapshot.pendingCallIds, [ids[1]]);
      assert.deepEqual(
        snapshot.whyRoot.map(({ callId }) => callId),
        [ids[2], ids[0]],
      );
    });
  });
}
