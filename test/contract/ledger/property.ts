import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { AdmitRequest, CommitRequest, Ledger } from '../../../src/ledger/ledger.ts';
import { LedgerModel } from '../../support/ledger-model.ts';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { admission, boundary, digest, newAttempt, record } from './builders.ts';

/** Few names, ids, histories and keys, so that operations meet. */
const attemptIndex = fc.constantFrom(0, 1);
const callId = fc.constantFrom('c0', 'c1', 'c2', 'c3', 'c4', 'c5');
const history = fc.constantFrom(['t', 'a'], ['t', 'b'], ['t', 'a', 'u', 'c'], ['t', 'b', 'u', 'd']);
const second = fc.constantFrom(undefined, ['t', '""']);
const outputIds = fc.constantFrom([], ['m1'], ['m2'], ['m1', 'm2']);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

type Operation =
  | { readonly kind: 'admit'; readonly at: number; readonly request: (attempt: string) => AdmitRequest }
  | {
      readonly kind: 'commit';
      readonly at: number;
      readonly callId: string;
      readonly rooted: boolean;
      readonly request: (attempt: string, parent: string | null) => CommitRequest;
    }
  | {
      readonly kind: 'settleRefused' | 'addFailure' | 'clientGone' | 'delivered' | 'replyOf';
      readonly at: number;
      readonly callId: string;
      readonly detail: string | undefined;
    }
  | { readonly kind: 'close' | 'retire' | 'delete'; readonly at: number };

const admitting = fc
  .record({
    at: attemptIndex,
    callId,
    history: maybe(history),
    second,
    echoedIds: outputIds,
    render: fc.constantFrom(undefined, digest('another')),
    namedParent: fc.constantFrom(undefined, undefined, undefined, null, 'response-c0', 'shared'),
    onAmbiguous: fc.constantFrom('refuse', 'root', 'unresolved') as fc.Arbitrary<AdmitRequest['onAmbiguous']>,
    onUnmatched: fc.constantFrom('root', 'root', 'root_if_fresh') as fc.Arbitrary<AdmitRequest['onUnmatched']>,
    afterFailure: fc.constantFrom('serve', 'serve', 'refuse') as fc.Arbitrary<AdmitRequest['afterFailure']>,
    maxCalls: fc.constantFrom(1000, 1000, 3),
    resend: maybe(
      fc.record({ requestDigest: fc.constantFrom('d1', 'd2'), idempotencyKey: fc.constantFrom(null, 'k1', 'k2') }),
    ),
  })
  .map(({ at, callId: id, history: items, second: other, echoedIds, render, resend, ...rest }): Operation => {
    const options = { echoedIds, ...(other && items && { second: other }), ...(render && { render }) };
    const before = items ? boundary(items, options) : null;
    return {
      kind: 'admit',
      at,
      request: (attempt) => admission(attempt, id, { ...rest, boundary: before, resend: resend ?? null }),
    };
  });

const committing = fc
  .record({
    at: attemptIndex,
    callId,
    rooted: fc.boolean(),
    history,
    second,
    outputIds,
    isTwin: fc.boolean(),
    responseId: fc.constantFrom(undefined, undefined, 'shared'),
    version: fc.constantFrom(1, 1, 1, 2),
    replyJson: fc.constantFrom('"reply"', '"reply"', null),
  })
  .map(
    ({
      at,
      callId: id,
      rooted,
      history: items,
      second: other,
      outputIds: ids,
      isTwin,
      responseId,
      version,
      replyJson,
    }): Operation => {
      const index = {
        outputIds: ids,
        ...(isTwin && { cumulativeHash: digest('twin') }),
        ...(responseId && { responseId }),
      };
      const recordJson = JSON.stringify({ id, items, version });
      return {
        kind: 'commit',
        at,
        callId: id,
        rooted,
        request: (attempt, parent) =>
          record(attempt, id, items, { parent, index, recordJson, replyJson, ...(other && { second: other }) }),
      };
    },
  );

const onCalls = fc
  .record({
    kind: fc.constantFrom('settleRefused', 'addFailure', 'clientGone', 'delivered', 'replyOf'),
    at: attemptIndex,
    callId,
    detail: maybe(callId),
  })
  .map((operation) => operation as Operation);
const onAttempts = fc
  .record({ kind: fc.constantFrom('close', 'retire', 'delete'), at: attemptIndex })
  .map((operation) => operation as Operation);

const operations = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: admitting },
    { weight: 10, arbitrary: committing },
    { weight: 6, arbitrary: onCalls },
    { weight: 1, arbitrary: onAttempts },
  ),
  { minLength: 10, maxLength: 60 },
);

/** Runs one operation on a ledger or on the model, whose methods have the same names. */
function run(
  ledger: Ledger | LedgerModel,
  attempts: readonly string[],
  operation: Operation,
  parents: ReadonlyMap<string, string | null>,
): unknown {
  const attempt = attempts[operation.at]!;
  switch (operation.kind) {
    case 'admit':
      return ledger.admit(operation.request(attempt));
    case 'commit': {
      const parent = operation.rooted ? null : (parents.get(`${attempt} ${operation.callId}`) ?? null);
      return ledger.commit(operation.request(attempt, parent));
    }
    case 'settleRefused':
      return ledger.settleRefused(attempt, operation.callId, operation.detail ?? 'x');
    case 'addFailure':
      return ledger.addFailure(
        attempt,
        operation.callId,
        operation.detail ? 'worker_capture_failed' : 'invalid_worker_commit_coordinates',
      );
    case 'clientGone':
      return ledger.clientGone(attempt, operation.callId, operation.detail);
    case 'delivered':
      return ledger.delivered(attempt, operation.callId);
    case 'replyOf':
      return ledger.replyOf(attempt, operation.callId);
    case 'close':
      return ledger.close(attempt);
    case 'retire':
      return ledger.retire([attempt]);
    case 'delete':
      return ledger.delete([attempt]);
    default:
      return operation satisfies never;
  }
}

export function property(under: LedgerUnderTest): void {
  describe('random operations', () => {
    it('have the outcomes of the model, one after the other and run again, and leave the same ledger', async () => {
      await fc.assert(
        fc.asyncProperty(operations, fc.boolean(), async (list, isRunTwice) => {
          const attempts = [newAttempt(), newAttempt()];
          const model = new LedgerModel();
          const parents = new Map<string, string | null>();
          for (const operation of list) {
            const expected = run(model, attempts, operation, parents);
            assert.deepEqual(await run(under.ledger, attempts, operation, parents), expected);
            const outcome = expected as { kind?: string; candidate?: { callId: string } | null } | undefined;
            if (operation.kind === 'admit' && outcome?.kind === 'admitted') {
              const request = operation.request(attempts[operation.at]!);
              parents.set(`${request.attempt} ${request.callId}`, outcome.candidate?.callId ?? null);
            }
            if (isRunTwice && operation.kind === 'admit' && outcome?.kind !== 'refused') {
              assert.deepEqual(
                await run(under.ledger, attempts, operation, parents),
                run(model, attempts, operation, parents),
              );
            }
          }
          await assertSame(under.ledger, model, attempts);
        }),
        { numRuns: 150 },
      );
    });

    it('that run at the same time leave pending = intents - records - refusals, and one record per call', async () => {
      await fc.assert(
        fc.asyncProperty(operations, async (list) => {
          const attempts = [newAttempt(), newAttempt()];
          await Promise.all(list.map((operation) => run(under.ledger, attempts, operation, new Map())));
          for (const attempt of attempts) {
            const snapshot = await under.ledger.snapshot(attempt);
            if (snapshot === 'retired') continue;
            const records = (await under.ledger.records(attempt, 0, 1000)).map(
              (text) => (JSON.parse(text) as { id: string }).id,
            );
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
            const unsettled = snapshot.pendingCallIds.filter((id) => !failed.has(id));
            assert.equal(await under.ledger.unsettled(attempt), unsettled.length);
          }
        }),
        { numRuns: 100 },
      );
    });
  });
}

async function assertSame(ledger: Ledger, model: LedgerModel, attempts: readonly string[]): Promise<void> {
  for (const attempt of attempts) {
    assert.deepEqual(await ledger.snapshot(attempt), model.snapshot(attempt));
    assert.deepEqual(await ledger.records(attempt, 0, 1000), model.records(attempt));
    assert.equal(await ledger.unsettled(attempt), model.unsettled(attempt));
  }
}
