import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AttemptOverview } from '../../../src/ledger/ledger.ts';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { addCall, admission, boundary, digest, newAttempt, newCallId, nowS, RENDER } from './builders.ts';

export function reading(under: LedgerUnderTest): void {
  describe('reading', () => {
    it('takes an unknown attempt for an open one without anything', async () => {
      const attempt = newAttempt();
      const empty = {
        state: 'open',
        recordCount: 0,
        attemptedCallIds: [],
        pendingCallIds: [],
        failures: [],
        refused: [],
        whyRoot: [],
      };
      assert.deepEqual(await under.ledger.snapshot(attempt), empty);
      assert.deepEqual(await under.ledger.records(attempt, 0, 10), []);
      assert.deepEqual(await under.ledger.sketches(attempt, 10), []);
    });

    it('gives records in pages, shorter at the end', async () => {
      const attempt = newAttempt();
      for (let call = 0; call < 5; call += 1)
        await addCall(under.ledger, attempt, ['task', `a${call}`], { recordJson: `{"n":${call}}` });
      const page = (from: number, limit: number) => under.ledger.records(attempt, from, limit);
      assert.deepEqual(await page(0, 2), ['{"n":0}', '{"n":1}']);
      assert.deepEqual(await page(2, 2), ['{"n":2}', '{"n":3}']);
      assert.deepEqual(await page(4, 2), ['{"n":4}']);
      assert.deepEqual(await page(5, 2), []);
      assert.deepEqual(await page(0, 0), []);
      assert.equal((await page(0, 100_000)).length, 5);
    });

    it('gives the sketches of the records that a call could see', async () => {
      const attempt = newAttempt();
      const one = await addCall(under.ledger, attempt, ['task', 'a'], { sketchJson: '[["user","x]y"]]' });
      const other = digest('another model');
      const two = await addCall(under.ledger, attempt, ['task', 'a', 'more', 'b'], {
        parent: one,
        admit: { boundary: boundary(['task', 'a']) },
        render: other,
        sketchJson: '["ünï"]',
      });
      const sketches = [
        { callId: one, parentCallId: null, renderDigest: RENDER, sketchJson: '[["user","x]y"]]' },
        { callId: two, parentCallId: one, renderDigest: other, sketchJson: '["ünï"]' },
      ];
      assert.deepEqual(await under.ledger.sketches(attempt, 2), sketches);
      assert.deepEqual(await under.ledger.sketches(attempt, 1), sketches.slice(0, 1));
      assert.deepEqual(await under.ledger.sketches(attempt, 0), []);
      assert.deepEqual(await under.ledger.sketches(attempt, 99), sketches);
    });

    it('gives many sketches, in order', async () => {
      const attempt = newAttempt();
      const ids: string[] = [];
      for (let call = 0; call < 520; call += 1) ids.push(await addCall(under.ledger, attempt, ['task', `a${call}`]));
      const listed = (before: number) =>
        under.ledger.sketches(attempt, before).then((all) => all.map((sketch) => sketch.callId));
      assert.deepEqual(await listed(1000), ids);
      assert.deepEqual(await listed(500), ids.slice(0, 500));
      assert.deepEqual(await listed(251), ids.slice(0, 251));
    });

    it('keeps why each recorded root is one', async () => {
      const attempt = newAttempt();
      const one = await addCall(under.ledger, attempt, ['task', 'a'], { whyRootJson: '{"cause":"first_call"}' });
      await addCall(under.ledger, attempt, ['task', 'a', 'more', 'b'], { parent: one });
      const two = await addCall(under.ledger, attempt, ['other', 'c'], {
        whyRootJson: '{"cause":"history_differs","index":1}',
      });
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual(snapshot.whyRoot, [
        { callId: one, json: '{"cause":"first_call"}' },
        { callId: two, json: '{"cause":"history_differs","index":1}' },
      ]);
    });

    it('lists attempts by name, in pages, with their numbers', async () => {
      const startS = nowS();
      const prefix = newAttempt();
      const [open, closed, retired, deleted] = ['a', 'b', 'c', 'd'].map((suffix) => `${prefix}-${suffix}`) as [
        string,
        string,
        string,
        string,
      ];
      await under.ledger.retire([retired]);
      const pending = newCallId();
      await addCall(under.ledger, closed, ['task', 'a']);
      await under.ledger.admit(admission(closed, pending, { admittedAtS: startS + 1000 }));
      await under.ledger.close(closed);
      await addCall(under.ledger, open, ['task', 'a']);
      await under.ledger.admit(admission(open, pending));
      await under.ledger.addFailure(open, pending, 'worker_capture_failed');
      const refused = newCallId();
      await under.ledger.admit(admission(open, refused));
      await under.ledger.settleRefused(open, refused, 'worker_unreachable');
      await addCall(under.ledger, deleted, ['task', 'a']);
      await under.ledger.delete([deleted]);

      const mine: AttemptOverview[] = [];
      for (let cursor: string | null = prefix; ; ) {
        const page: AttemptOverview[] = await under.ledger.attempts(cursor, 2);
        assert.ok(page.length <= 2);
        mine.push(...page.filter(({ attempt }) => attempt.startsWith(prefix)));
        cursor = page.at(-1)?.attempt ?? null;
        if (cursor === null || !cursor.startsWith(prefix)) break;
      }
      const numbers = mine.map(({ lastActivityS, ...rest }) => ({ ...rest, isRecent: lastActivityS >= startS }));
      assert.deepEqual(numbers, [
        { attempt: open, state: 'open', records: 1, pending: 1, failures: 1, refused: 1, isRecent: true },
        { attempt: closed, state: 'closed', records: 1, pending: 1, failures: 0, refused: 0, isRecent: true },
        { attempt: retired, state: 'retired', records: 0, pending: 0, failures: 0, refused: 0, isRecent: true },
      ]);
      assert.equal(mine[1]!.lastActivityS, startS + 1000);
    });

    it('lists from the start without a cursor', async () => {
      const attempt = `0-${newAttempt()}`;
      await addCall(under.ledger, attempt, ['task', 'a']);
      const all: string[] = [];
      for (let cursor: string | null = null; ; ) {
        const page: AttemptOverview[] = await under.ledger.attempts(cursor, 50);
        all.push(...page.map((overview) => overview.attempt));
        cursor = page.at(-1)?.attempt ?? null;
        if (page.length < 50) break;
      }
      assert.ok(all.includes(attempt));
      assert.deepEqual(all, [...all].sort());
    });

    it('checks say what the store gives', async () => {
      const checks = await under.ledger.check();
      assert.deepEqual(checks[0]?.name, 'ledger_reachable');
      assert.equal(checks[0]?.ok, true);
      assert.equal(new Set(checks.map(({ name }) => name)).size, checks.length);
    });
  });
}
