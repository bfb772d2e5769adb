import fc from 'fast-check';
import type { AdmitRequest, CommitRequest, Ledger } from '../../../src/ledger/ledger.ts';
import type { LedgerModel } from '../../support/ledger-model.ts';
import { admission, boundary, digest, record } from './builders.ts';

/** One operation on attempt 0 or 1; `request` makes it for the attempt's name. */
export type Operation =
  | {
      readonly kind: 'admit';
      readonly at: number;
      readonly callId: string;
      readonly request: (attempt: string) => AdmitRequest;
    }
  | {
      readonly kind: 'commit';
      readonly at: number;
      readonly callId: string;
      /** Commits as a root, or as a child of the admitted parent. */
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

/** An operation before it is known which calls there are: `admits` picks among those that were admitted before it. */
type Plan = (admitted: readonly string[], fresh: () => string) => Operation;

// Few histories, digests and keys, so that operations meet.
const at = fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) });
const history = fc.constantFrom(['t', 'a'], ['t', 'b'], ['t', 'a', 'u', 'c']);
const second = fc.constantFrom(undefined, undefined, ['t', '""']);
const outputIds = fc.constantFrom([], ['m1'], ['m2'], ['m1', 'm2']);
const rarely = <T, U>(usual: T, unusual: fc.Arbitrary<U>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(usual) as fc.Arbitrary<T | U> }, { weight: 1, arbitrary: unusual });
const pickFrom = (calls: readonly string[], pick: number) =>
  calls.length === 0 ? 'nobody' : calls[pick % calls.length]!;

const admitting: fc.Arbitrary<Plan> = fc
  .record({
    at,
    pick: fc.nat(),
    isKnownId: rarely(false, fc.constant(true)),
    hasHistory: fc.boolean(),
    history,
    second,
    echoedIds: outputIds,
    render: rarely(undefined, fc.constant(digest('another'))),
    named: rarely('search', fc.constantFrom('none', 'known', 'shared', 'nobody')),
    onAmbiguous: fc.constantFrom('refuse', 'root', 'unresolved') as fc.Arbitrary<AdmitRequest['onAmbiguous']>,
    onUnmatched: rarely('root', fc.constant('root_if_fresh')) as fc.Arbitrary<AdmitRequest['onUnmatched']>,
    afterFailure: rarely('serve', fc.constant('refuse')) as fc.Arbitrary<AdmitRequest['afterFailure']>,
    maxCalls: rarely(1000, fc.constant(4)),
    resend: fc.option(
      fc.record({
        requestDigest: fc.constantFrom('d1', 'd2'),
        idempotencyKey: rarely(null, fc.constantFrom('k1', 'k2')),
      }),
    ),
  })
  .map(
    (plan): Plan =>
      (admitted, fresh) => {
        const { echoedIds, render, named, onAmbiguous, onUnmatched, afterFailure, maxCalls, resend } = plan;
        const callId = plan.isKnownId ? pickFrom(admitted, plan.pick) : fresh();
        const parents = {
          search: undefined,
          none: null,
          known: `response-${pickFrom(admitted, plan.pick)}`,
          shared: 'shared',
          nobody: 'nobody',
        };
        const options = { echoedIds, ...(plan.second && { second: plan.second }), ...(render && { render }) };
        const changes = {
          boundary: plan.hasHistory ? boundary(plan.history, options) : null,
          namedParent: parents[named as keyof typeof parents],
          ...{ onAmbiguous, onUnmatched, afterFailure, maxCalls, resend },
        };
        return { kind: 'admit', at: plan.at, callId, request: (attempt) => admission(attempt, callId, changes) };
      },
  );

const committing: fc.Arbitrary<Plan> = fc
  .record({
    at,
    pick: fc.nat(),
    rooted: fc.boolean(),
    history,
    second,
    outputIds,
    isTwin: fc.boolean(),
    responseId: rarely(undefined, fc.constant('shared')),
    version: rarely(1, fc.constant(2)),
    replyJson: rarely<string | null, null>('"reply"', fc.constant(null)),
    hasForeignParent: rarely(false, fc.constant(true)),
  })
  .map(
    (plan): Plan =>
      (admitted) => {
        const callId = pickFrom(admitted, plan.pick);
        const { responseId } = plan;
        const index = {
          outputIds: plan.outputIds,
          ...(plan.isTwin && { cumulativeHash: digest('twin') }),
          ...(responseId && { responseId }),
        };
        const recordJson = JSON.stringify({ id: callId, history: plan.history, version: plan.version });
        const options = { index, recordJson, replyJson: plan.replyJson, ...(plan.second && { second: plan.second }) };
        return {
          kind: 'commit',
          at: plan.at,
          callId,
          rooted: plan.rooted,
          request: (attempt, parent) =>
            record(attempt, callId, plan.history, { ...options, parent: plan.hasForeignParent ? 'nobody' : parent }),
        };
      },
  );

const onCalls: fc.Arbitrary<Plan> = fc
  .record({
    kind: fc.constantFrom(
      'settleRefused',
      'addFailure',
      'clientGone',
      'clientGone',
      'delivered',
      'replyOf',
    ) as fc.Arbitrary<'replyOf'>,
    at,
    pick: fc.nat(),
    detail: fc.option(fc.nat(), { nil: undefined }),
  })
  .map(
    ({ kind, at: attempt, pick, detail }): Plan =>
      (admitted) => ({
        kind,
        at: attempt,
        callId: pickFrom(admitted, pick),
        detail: detail === undefined ? undefined : pickFrom(admitted, detail),
      }),
  );

const onAttempts: fc.Arbitrary<Plan> = fc
  .record({ kind: fc.constantFrom('close', 'retire', 'delete') as fc.Arbitrary<'close'>, at })
  .map(
    (operation): Plan =>
      () =>
        operation,
  );

/** Lists of operations on two attempts that belong together: most of them concern calls that were admitted before. */
export const operations: fc.Arbitrary<Operation[]> = fc
  .array(
    fc.oneof(
      { weight: 20, arbitrary: admitting },
      { weight: 16, arbitrary: committing },
      { weight: 12, arbitrary: onCalls },
      { weight: 1, arbitrary: onAttempts },
    ),
    { minLength: 20, maxLength: 80 },
  )
  .map((plans) => {
    const admitted: string[] = [];
    const fresh = () => {
      admitted.push(`c${admitted.length}`);
      return admitted.at(-1)!;
    };
    return plans.map((plan) => plan(admitted, fresh));
  });

/** Runs one operation on a ledger or on the model, whose methods have the same names. `parents`: what each call of each attempt was admitted with. */
export function runOperation(
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
