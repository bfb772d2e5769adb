import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from './chaos/nemesis.ts';
import type { Plant } from './chaos/processes/plants.ts';
import { runChaos } from './chaos/run-chaos.ts';

/** The harness can fail: each planted bug is reported, as the invariant that it breaks. The faults are those that bring it to light soonest. */
const CASES: readonly {
  readonly plant: Plant;
  readonly faults: Partial<Record<Fault, number>>;
  readonly breaks: readonly [invariant: number, rule: string];
}[] = [
  {
    plant: 'commit-after-reply',
    faults: { killReplica: 1 },
    breaks: [1, 'every call whose reply reached an agent has exactly one record'],
  },
  {
    plant: 'unidempotent-script',
    faults: { loseLedgerAnswers: 1 },
    breaks: [3, 'no call has two records'],
  },
  {
    plant: 'lost-sweep',
    faults: { killReplica: 1 },
    breaks: [4, 'what a dead replica left has its failure row'],
  },
  {
    plant: 'leaky-close',
    faults: {},
    breaks: [5, 'no intent after close returned'],
  },
  {
    plant: 'half-delete',
    faults: {},
    breaks: [6, 'no call of a deleted attempt in its successor'],
  },
];

describe('bugs that are planted into the chaos run', () => {
  for (const { plant, faults, breaks } of CASES) {
    test(`${plant} is found`, async () => {
      const report = await runChaos({
        seed: plant,
        ledger: 'redis',
        plant,
        faults,
        flags: { 'deadlines.call_s': '3' },
        concurrency: 8,
        meanPauseMs: 300,
        seconds: 8,
      });
      const found = new Set(report.violations.map(({ invariant, rule }) => `${invariant}: ${rule}`));
      assert.ok(found.has(breaks.join(': ')), `found: ${[...found].join('; ') || 'nothing'}`);
    });
  }
});
