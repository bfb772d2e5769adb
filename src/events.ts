import type { Logger } from 'pino';
import type { AdmitOutcome } from './ledger/ledger.ts';
import type { LedgerEvent } from './ledger/options.ts';
import type { Metrics, Phase } from './metrics.ts';
import type { Dialect } from './protocol/conversation.ts';
import type { FailureReason } from './protocol/wire/ledger.ts';

/** Ids of a call, for log lines. Never content. */
export interface CallIds {
  readonly attempt: string;
  readonly callId: string;
}

/** What a call that a dead replica left gets. */
const ORPHANED: FailureReason = 'request_finished_without_staged_coordinates';

/** One function per business event: the log line and the metric together. Routes and steps never touch either of them directly. */
export type Events = ReturnType<typeof buildEvents>;

export function buildEvents(log: Logger, metrics: Metrics) {
  return {
    admitted(ids: CallIds, outcome: Extract<AdmitOutcome, { kind: 'admitted' }>): void {
      const kind = outcome.candidate === null ? 'root' : 'continuation';
      metrics.admissions.inc(kind, outcome.rootedBy ?? '');
      log.debug(
        {
          ...ids,
          parent: outcome.candidate?.callId ?? null,
          match: outcome.candidate?.match,
          rootedBy: outcome.rootedBy,
        },
        `admitted as ${kind}`,
      );
    },
    joined(ids: CallIds, state: string): void {
      metrics.joins.inc({ state });
      log.info({ ...ids, state }, 're-send joined a call');
    },
    unresolved(ids: CallIds): void {
      metrics.failures.inc({ reason: 'unresolved_parent' });
      log.warn(ids, 'no parent found: the call is served uncaptured');
    },
    /** Refused before inference; nothing was recorded. */
    refused(attempt: string | null, dialect: Dialect | null, code: string): void {
      metrics.refusals.inc({ code });
      log.info({ attempt, dialect, code }, 'request refused');
    },
    /** An intent that is neither pending nor failed: the engine's own refusal, or no worker could be reached. */
    settledRefused(ids: CallIds, code: string): void {
      metrics.refusals.inc({ code });
      log.info({ ...ids, code }, 'call settled as refused');
    },
    committed(ids: CallIds, facts: { parent: string | null; cumLen: number; late: boolean }): void {
      metrics.commits.inc(facts.parent === null ? 'root' : 'continuation', facts.late ? 'late' : 'in_time');
      log.debug({ ...ids, ...facts }, facts.late ? 'late record committed' : 'record committed');
    },
    commitDropped(ids: CallIds): void {
      metrics.dropped.inc();
      log.warn(ids, 'record dropped: the attempt was retired or deleted');
    },
    commitConflict(ids: CallIds): void {
      log.error(ids, 'another record exists for this call: nothing was changed');
    },
    commitUnavailable(ids: CallIds, error: unknown): void {
      log.error({ ...ids, err: error }, 'record could not be written in time: the call stays pending');
    },
    failed(ids: CallIds, reason: FailureReason, detail: string): void {
      metrics.failures.inc({ reason });
      log.warn({ ...ids, reason, detail }, 'call failed');
    },
    failureRowLate(ids: CallIds, reason: FailureReason, error: unknown): void {
      log.error({ ...ids, reason, err: error }, 'failure row could not be written; it will be once the ledger is back');
    },
    refusalLate(ids: CallIds, code: string, error: unknown): void {
      log.error({ ...ids, code, err: error }, 'refusal could not be written; it will be once the ledger is back');
    },
    defect(ids: CallIds, error: unknown): void {
      log.error({ ...ids, err: error }, 'unexpected error in a call');
    },
    clientGone(ids: CallIds): void {
      metrics.clientsGone.inc();
      log.info(ids, 'agent went away before its reply was handed over; the call goes on');
    },
    /** Bookkeeping for re-sends that failed: the record is not concerned. */
    bookkeepingFailed(ids: CallIds, what: string, error: unknown): void {
      log.warn({ ...ids, what, err: error }, 're-send bookkeeping failed');
    },
    finished(dialect: Dialect, captured: boolean, status: number, elapsedS: number): void {
      metrics.calls.inc(dialect, `${captured}`, status < 400 ? 'ok' : String(status));
      metrics.callSeconds.observe(dialect, elapsedS);
    },
    phase(name: Phase, elapsedMs: number): void {
      metrics.phaseSeconds.observe(name, elapsedMs / 1000);
    },
    stripped(fields: readonly string[]): void {
      for (const field of fields) metrics.stripped.inc({ field });
    },
    /** Members that stand in no list of the dialect: accepted, sent to nobody. Their names are told, since a person may wonder where they went. */
    ignored(attempt: string | null, dialect: Dialect, names: readonly string[]): void {
      if (names.length === 0) return;
      metrics.ignored.inc({ dialect });
      log.debug({ attempt, dialect, names }, 'request members that stand in no list are ignored');
    },
    workerError(kind: string, worker: string, detail: string): void {
      metrics.workerErrors.inc({ kind });
      log.warn({ worker, kind, detail }, 'worker call failed');
    },
    workerHealth(worker: string, up: boolean): void {
      metrics.workerUp.set({ worker }, up ? 1 : 0);
      if (up) log.info({ worker }, 'worker is back');
      else log.warn({ worker }, 'worker is taken out until it answers again');
    },
    workerRefusedCredentials(worker: string, status: number): void {
      metrics.workerErrors.inc({ kind: 'credentials' });
      log.error({ worker, status }, 'THE WORKER REFUSES OUR CREDENTIALS: check worker.api_key');
    },
    attemptOperation(operation: 'close' | 'retire' | 'delete', attempts: readonly string[]): void {
      metrics.attempts.inc({ operation }, attempts.length);
      log.info({ operation, attempts: attempts.slice(0, 20), count: attempts.length }, `attempts: ${operation}`);
    },
    swept(deadReplicas: readonly string[], settledCalls: number): void {
      metrics.orphans.inc(settledCalls);
      if (settledCalls > 0) metrics.failures.inc({ reason: ORPHANED }, settledCalls);
      log.warn({ deadReplicas, settledCalls }, 'settled what dead replicas left');
    },
    sweepFailed(error: unknown): void {
      log.error({ err: error }, 'lease renewal or sweep failed');
    },
    owedRowsWritten(written: number, left: number): void {
      log.warn({ written, left }, 'the ledger is back: rows of calls that ended without it were written');
    },
    /** What the ledger tells beside its answers. */
    ledgerEvent(event: LedgerEvent): void {
      switch (event.kind) {
        case 'connected':
          log.info(event.detail);
          break;
        case 'disconnected':
          log.warn({ detail: event.detail }, 'the connection to the ledger is lost');
          break;
        case 'abandoned':
          log.warn(
            { attempts: event.attempts.slice(0, 20), count: event.attempts.length },
            'abandoned attempts deleted',
          );
          break;
        case 'admission_voided':
          log.warn(
            { attempt: event.attempt, callId: event.callId },
            'an admission whose answer was lost is settled as refused: its call never ran',
          );
          break;
        case 'background_failure':
          log.warn({ detail: event.detail }, 'work of the ledger in the background failed; it is tried again');
          break;
        default:
          event satisfies never;
      }
    },
    ledgerUnavailable(operation: string, error: unknown): void {
      log.error({ operation, err: error }, 'ledger is not available');
    },
  };
}
