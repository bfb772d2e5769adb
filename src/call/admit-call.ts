import type { Context } from '../context.ts';
import type { ServiceError } from '../errors.ts';
import { type ErrorCode, serviceError } from '../errors.ts';
import { type AdmitOutcome, type AdmitRefusal, LedgerUnavailable, type ResendKey } from '../ledger/ledger.ts';
import type { Evidence } from './gather-evidence.ts';

/** A captured call that is about to be admitted. */
export interface CapturedCall {
  readonly attempt: string;
  readonly callId: string;
  readonly admittedAtS: number;
  readonly namedParent: string | null | undefined;
}

export type Admitted = Exclude<AdmitOutcome, { kind: 'refused' }>;

/**
 * Records the intent and takes the proposal, in one atomic step of the ledger, before inference (protocol section 1, steps 2 and 3). A ledger that cannot
 * be asked refuses the call: no inference without a durable intent.
 */
export async function admitCall(
  ctx: Context,
  call: CapturedCall,
  evidence: Evidence,
  resend: ResendKey | null,
): Promise<Admitted | ServiceError> {
  let outcome: AdmitOutcome;
  try {
    outcome = await ctx.ledger.admit({
      ...call,
      replica: ctx.replica,
      boundary: evidence.boundary,
      ...ctx.strategy.unmatched(evidence.hasAssistant),
      afterFailure: ctx.config.capture.after_failure,
      maxCalls: ctx.config.limits.calls_per_attempt,
      resend,
    });
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    ctx.events.ledgerUnavailable('admit', error);
    return serviceError(
      'ledger_unavailable',
      'The ledger is not available, so the call was not started. Try again shortly.',
    );
  }
  if (outcome.kind === 'refused') return refusal(outcome.code, ctx.config.limits.calls_per_attempt);
  return outcome;
}

const REFUSALS: Readonly<Record<Exclude<AdmitRefusal, 'duplicate_call'>, string>> = {
  attempt_closed: 'This attempt is closed: the trainer takes no further calls for it.',
  attempt_retired: 'This attempt was retired: its calls are no longer recorded.',
  attempt_incomplete:
    'An earlier call of this attempt failed, and the service is set to refuse further calls of such an attempt.',
  too_many_calls: 'This attempt has reached its limit of calls (limits.calls_per_attempt = %d).',
  unknown_parent:
    'x-nemo-gym-capture-parent names no response of this attempt, or more than one. Send the id of an earlier response of this attempt.',
  ambiguous_candidate:
    'Several earlier calls of this attempt have exactly this history, and nothing in the request tells them apart. Echo the ids of the accepted response, or name it in x-nemo-gym-capture-parent.',
  idempotency_key_reused: 'This Idempotency-Key was used for another request of this attempt. Use a new key.',
};

/** The error for a refusal of the ledger. */
export function refusal(code: AdmitRefusal, maxCalls: number): ServiceError {
  if (code === 'duplicate_call') throw new Error('a call id was made twice');
  return serviceError(code satisfies ErrorCode, REFUSALS[code].replace('%d', String(maxCalls)));
}
