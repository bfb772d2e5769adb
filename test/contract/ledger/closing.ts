import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { addCall, admission, boundary, newAttempt, newCallId, parentOf, ROOT, record } from './builders.ts';

export function closing(under: LedgerUnderTest): void {
  describe('close', () => {
    it('is idempotent, and closes what nobody has used', async () => {
      const attempt = newAttempt();
      for (let time = 0; time < 2; time += 1) assert.equal(await under.ledger.close(attempt), 'closed');
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual([snapshot.state, snapshot.attemptedCallIds], ['closed', []]);
    });

    it('says that an attempt is retired, and leaves it so', async () => {
      const attempt = newAttempt();
      await under.ledger.retire([attempt]);
      assert.equal(await under.ledger.close(attempt), 'retired');
      assert.equal(await under.ledger.snapshot(attempt), 'retired');
    });

    it('lets no intent in after it has returned, and those before still commit', async () => {
      for (let round = 0; round < 5; round += 1) {
        const attempt = newAttempt();
        let returned = false;
        const late: string[] = [];
        const admissions = Array.from({ length: 50 }, async (_, index) => {
          for (let turn = 0; turn < index % 5; turn += 1) await under.ledger.unsettled(attempt);
          const callId = newCallId();
          const startedAfter = returned;
          const outcome = await under.ledger.admit(admission(attempt, callId));
          if (outcome.kind === 'admitted' && startedAfter) late.push(callId);
          return outcome.kind === 'admitted' ? callId : null;
        });
        await under.ledger.unsettled(attempt);
        await under.ledger.close(attempt);
        returned = true;
        const atClose = await under.ledger.snapshot(attempt);
        const admitted = (await Promise.all(admissions)).filter((callId) => callId !== null);
        const afterwards = await under.ledger.snapshot(attempt);
        assert.deepEqual(afterwards, atClose);
        assert.ok(atClose !== 'retired');
        assert.deepEqual([...atClose.attemptedCallIds].sort(), [...admitted].sort());
        assert.deepEqual(late, []);
        for (const callId of admitted)
          assert.equal(await under.ledger.commit(record(attempt, callId, ['task', callId])), 'committed');
        assert.equal(await under.ledger.unsettled(attempt), 0);
      }
    });
  });

  describe('retire', () => {
    it('takes rows away and leaves a fence, on unknown attempts too', async () => {
      const [used, closed, unknown] = [newAttempt(), newAttempt(), newAttempt()];
      await addCall(under.ledger, used, ['task', 'a']);
      await under.ledger.close(closed);
      const removal = await under.ledger.retire([used, unknown, closed, used]);
      assert.deepEqual(removal, { removed: [used, closed], absent: [unknown] });
      for (const attempt of [used, closed, unknown]) {
        assert.equal(await under.ledger.snapshot(attempt), 'retired');
        assert.deepEqual(await under.ledger.records(attempt, 0, 10), []);
        assert.deepEqual(await under.ledger.sketches(attempt, 10), []);
        assert.equal(await under.ledger.unsettled(attempt), 0);
      }
      assert.deepEqual(await under.ledger.retire([used, unknown]), { removed: [], absent: [used, unknown] });
    });
  });

  describe('delete', () => {
    it('takes rows or the fence away, and makes the name new', async () => {
      const [used, fenced, unknown] = [newAttempt(), newAttempt(), newAttempt()];
      const old = await addCall(under.ledger, used, ['task', 'a']);
      await under.ledger.retire([fenced]);
      assert.deepEqual(await under.ledger.delete([used, fenced, unknown]), {
        removed: [used, fenced],
        absent: [unknown],
      });
      for (const attempt of [used, fenced]) {
        const outcome = await under.ledger.admit(
          admission(attempt, newCallId(), { boundary: boundary(['task', 'a']) }),
        );
        assert.deepEqual(outcome, ROOT);
      }
      const named = await under.ledger.admit(admission(used, newCallId(), { namedParent: `response-${old}` }));
      assert.deepEqual(named, { kind: 'refused', code: 'unknown_parent' });
      // The old id may be used again, too.
      assert.equal(parentOf(await under.ledger.admit(admission(used, old))), null);
      assert.deepEqual(await under.ledger.delete([used]), { removed: [used], absent: [] });
      assert.deepEqual(await under.ledger.delete([used]), { removed: [], absent: [used] });
    });

    it('lets a name be used again after many calls, with nothing of the old ones', async () => {
      const attempt = newAttempt();
      for (let call = 0; call < 300; call += 1) await addCall(under.ledger, attempt, ['task', `a${call}`]);
      await under.ledger.delete([attempt]);
      const callId = await addCall(under.ledger, attempt, ['task', 'a0'], { recordJson: '{"new":1}' });
      assert.deepEqual(await under.ledger.records(attempt, 0, 1000), ['{"new":1}']);
      assert.deepEqual(
        (await under.ledger.sketches(attempt, 1000)).map((sketch) => sketch.callId),
        [callId],
      );
      const outcome = await under.ledger.admit(admission(attempt, newCallId(), { boundary: boundary(['task', 'a7']) }));
      assert.equal(parentOf(outcome), null);
    });

    it('takes as many attempts at once as the protocol allows', async () => {
      const attempts = Array.from({ length: 4096 }, newAttempt);
      assert.deepEqual(await under.ledger.retire(attempts), { removed: [], absent: attempts });
      assert.deepEqual(await under.ledger.delete(attempts), { removed: attempts, absent: [] });
    });
  });
}
