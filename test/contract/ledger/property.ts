import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { AdmitOutcome, Ledger } from '../../../src/ledger/ledger.ts';
import { LedgerModel } from '../../support/ledger-model.ts';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { newAttempt } from './builders.ts';
import { type Operation, operations, runOperation } from './operations.ts';

/** Runs operations on the model alone; calls `each` with every outcome. */
async function runBeside(
  list: readonly Operation[],
  attempts: readonly string[],
  each: (operation: Operation, expected: unknown, parents: ReadonlyMap<string, string | null>) => Promise<void>,
): Promise<LedgerModel> {
  const model = new LedgerModel();
  const parents = new Map<string, string | null>();
  for (const operation of list) {
    const expected = runOperation(model, attempts, operation, parents);
    await each(operation, expected, parents);
    if (operation.kind !== 'admit') continue;
    const outcome = expected as AdmitOutcome;
    if (outcome.kind === 'admitted')
      parents.set(`${attempts[operation.at]} ${operation.callId}`, outcome.candidate?.callId ?? null);
  }
  return model;
}

export function property(under: LedgerUnderTest): void {
  describe('random operations', () => {
    it('have the outcomes of the model, one after the other and run again, and leave the same ledger', async () => {
      await fc.assert(
        fc.asyncProperty(operations, fc.boolean(), async (list, isRunTwice) => {
          const attempts = [newAttempt(), newAttempt()];
          const model = await runBeside(list, attempts, async (operation, expected, parents) => {
            const run = () => runOperation(under.ledger, attempts, operation, parents);
            assert.deepEqual(await run(), expected);
            // What recorded nothing may have another outcome by now; what was recorded has the same one.
            const outcome = expected as AdmitOutcome;
            if (isRunTwice && operation.kind === 'admit' && outcome.kind !== 'refused')
              assert.deepEqual(await run(), expected);
          });
          await assertSame(under.ledger, model, attempts);
        }),
        { numRuns: 100 },
      );
    });

    it('meet everything that can happen', async () => {
      const met = new Set<string>();
      for (const list of fc.sample(operations, { numRuns: 400, seed: 1 })) {
        await runBeside(list, ['a', 'b'], async ({ kind }, expected) => {
          met.add(`${kind}: ${describeOutcome(expected)}`);
        });
      }
      const missing = EXPECTED_TO_MEET.filter((outcome) => !met.has(outcome));
      assert.deepEqual(missing, []);
    });

    it('that run at the same time leave pending = intents - records - refusals, and one record per call', async () => {
      await fc.assert(
        fc.asyncProperty(operations, async (list) => {
          const attempts = [newAttempt(), newAttempt()];
          await Promise.all(list.map((operation) => runOperation(under.ledger, attempts, operation, new Map())));
          for (const attempt of attempts) await assertSound(under.ledger, attempt);
        }),
        { numRuns: 100 },
      );
    });
  });
}

const EXPECTED_TO_MEET = [
  ...['exact', 'empty_tool_content'].map((match) => `admit: child, ${match}`),
  'admit: grandchild, exact',
  ...['unmatched', 'ambiguous', 'named_parent'].map((reason) => `admit: root, ${reason}`),
  'admit: joined',
  'admit: unresolved',
  ...['attempt_closed', 'attempt_retired', 'attempt_incomplete', 'too_many_calls'].map(
    (code) => `admit: refused, ${code}`,
  ),
  ...['unknown_parent', 'ambiguous_candidate', 'idempotency_key_reused', 'duplicate_call'].map(
    (code) => `admit: refused, ${code}`,
  ),
  ...['committed', 'already_committed', 'conflict', 'dropped'].map((outcome) => `commit: ${outcome}`),
  ...['running', 'finished', 'failed', 'gone'].map((state) => `replyOf: ${state}`),
  ...['settleRefused: true', 'settleRefused: false', 'addFailure: true', 'addFailure: false'],
];

function describeOutcome(outcome: unknown): string {
  if (typeof outcome !== 'object' || outcome === null || !('kind' in outcome)) return String(outcome);
  const { kind, code } = outcome as { kind: string; code?: string };
  if (kind !== 'admitted') return code === undefined ? kind : `${kind}, ${code}`;
  const { candidate, rootedBy } = outcome as Extract<AdmitOutcome, { kind: 'admitted' }>;
  if (candidate === null) return `root, ${rootedBy}`;
  return `${candidate.stagingChain.length === 1 ? 'child' : 'grandchild'}, ${candidate.match}`;
}

async function assertSame(ledger: Ledger, model: LedgerModel, attempts: readonly string[]): Promise<void> {
  for (const attempt of attempts) {
    assert.deepEqual(await ledger.snapshot(attempt), model.snapshot(attempt));
    assert.deepEqual(await ledger.records(attempt, 0, 1000), model.records(attempt));
    assert.equal(await ledger.unsettled(attempt), model.unsettled(attempt));
  }
}

async function assertSound(ledger: Ledger, attempt: string): Promise<void> {
  const snapshot = await ledger.snapshot(attempt);
  if (snapshot === 'retired') return;
  const records = (await ledger.records(attempt, 0, 1000)).map((text) => (JSON.parse(text) as { id: string }).id);
  assert.equal(records.length, snapshot.recordCount);
  assert.equal(new Set(records).size, records.length);
  assert.equal(new Set(snapshot.attemptedCallIds).size, snapshot.attemptedCallIds.length);
  const settled = new Set([...records, ...snapshot.refused.map((row) => row.callId)]);
  assert.equal(settled.size, records.length + snapshot.refused.length);
  assert.deepEqual(
    snapshot.pendingCallIds,
    snapshot.attemptedCallIds.filter((id) => !settled.has(id)),
  );
  const failed = new Set(snapshot.failures.map((row) => row.callId));
  assert.equal(await ledger.unsettled(attempt), snapshot.pendingCallIds.filter((id) => !failed.has(id)).length);
}
