import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { figures, verdict } from './chaos/report.ts';
import { runChaos } from './chaos/run-chaos.ts';

/** Every invariant of the ledger, under load, while everything is killed (`npm run chaos`, in short). The seed of a failure is in its message. */
describe('chaos, in short', () => {
  // A SQLite ledger has one replica: while that starts again, nothing else happens.
  for (const [ledger, seconds, meanPauseMs] of [
    ['redis', 25, 350],
    ['sqlite', 12, 1_000],
  ] as const) {
    test(`${ledger}: every invariant holds`, async (t) => {
      const report = await runChaos({
        seed: `npm test ${ledger}`,
        ledger,
        concurrency: 10,
        meanPauseMs,
        seconds,
        keepsFiles: true,
      });
      for (const line of figures(report)) t.diagnostic(line);
      assert.deepEqual(verdict(report), ['every invariant held']);
      // A run in which nothing happened shows nothing.
      assert.ok(report.kills.inFlight > 0, 'no kill hit a call between intent and record');
      assert.ok(report.replies > 0 && report.records > 0, 'no call came through');
    });
  }
});
