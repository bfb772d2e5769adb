import { createHash, randomUUID } from 'node:crypto';
import type {
  AdmitOutcome,
  AdmitRequest,
  Boundary,
  CommitRequest,
  Ledger,
  RecordIndex,
} from '../../../src/ledger/ledger.ts';
import type { LedgerOptions } from '../../../src/ledger/open-ledger.ts';

/** A store under test. */
export interface StoreUnderTest {
  /** Opens and starts another ledger on this store; with SQLite only after the one before was stopped. */
  open(options?: Partial<LedgerOptions>): Promise<Ledger>;
  /** Ends the store for good. */
  destroy(): Promise<void>;
}

export const newAttempt = () => `attempt-${randomUUID()}`;
export const newCallId = () => randomUUID().replaceAll('-', '');
export const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');
export const nowS = () => Date.now() / 1000;

export const RENDER = digest('render');

/** A history is a list of items, named by any text. `second`: what the items are with content "" where it was null. */
export interface HistoryOptions {
  readonly second?: readonly string[];
  readonly render?: string;
}

function summary(history: readonly string[], { second = history, render = RENDER }: HistoryOptions) {
  return {
    itemCount: history.length,
    sourceDigest: digest(history),
    emptyToolContentDigest: digest(second),
    renderDigest: render,
  };
}

export function boundary(
  history: readonly string[],
  options: HistoryOptions & Partial<Pick<Boundary, 'echoedIds' | 'reasoning'>> = {},
): Boundary {
  return { ...summary(history, options), echoedIds: options.echoedIds ?? [], reasoning: options.reasoning ?? null };
}

export function admission(attempt: string, callId: string, changes: Partial<AdmitRequest> = {}): AdmitRequest {
  return {
    attempt,
    callId,
    replica: 'replica-a',
    admittedAtS: 1_700_000_000.25,
    boundary: null,
    namedParent: undefined,
    onAmbiguous: 'refuse',
    onUnmatched: 'root',
    afterFailure: 'serve',
    maxCalls: 1000,
    resend: null,
    ...changes,
  };
}

export interface RecordOptions extends HistoryOptions {
  readonly parent?: string | null;
  readonly index?: Partial<RecordIndex>;
  readonly recordJson?: string;
  readonly whyRootJson?: string | null;
  readonly sketchJson?: string;
  readonly replyJson?: string | null;
}

/** The record of a call whose history, its own turn included, is `history`. */
export function record(
  attempt: string,
  callId: string,
  history: readonly string[],
  options: RecordOptions = {},
): CommitRequest {
  const parentCallId = options.parent ?? null;
  return {
    attempt,
    callId,
    recordJson: options.recordJson ?? JSON.stringify({ model_call_id: callId, text: 'ünï "code" \u2028 漢' }),
    index: {
      parentCallId,
      responseId: `response-${callId}`,
      cumLen: history.length * 10,
      chainHash: digest(['chain', callId]),
      cumulativeHash: digest(['cumulative', callId]),
      stagingKey: `${attempt}/${callId}`,
      ...summary(history, options),
      outputIds: [],
      reasoning: null,
      ...options.index,
    },
    whyRootJson:
      options.whyRootJson !== undefined ? options.whyRootJson : parentCallId === null ? '{"cause":"first_call"}' : null,
    sketchJson: options.sketchJson ?? `[${JSON.stringify(callId)}]`,
    replyJson: options.replyJson !== undefined ? options.replyJson : JSON.stringify({ reply: callId }),
  };
}

/** Admits and commits a call; returns its id. */
export async function addCall(
  ledger: Ledger,
  attempt: string,
  history: readonly string[],
  options: RecordOptions & { readonly callId?: string; readonly admit?: Partial<AdmitRequest> } = {},
): Promise<string> {
  const callId = options.callId ?? newCallId();
  const before = options.parent ? { boundary: boundary(history.slice(0, -2), options) } : {};
  const outcome = await ledger.admit(admission(attempt, callId, { ...before, ...options.admit }));
  if (outcome.kind !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(outcome)}`);
  const committed = await ledger.commit(record(attempt, callId, history, options));
  if (committed !== 'committed') throw new Error(`not committed: ${committed}`);
  return callId;
}

export const ROOT: AdmitOutcome = { kind: 'admitted', candidate: null, rootedBy: 'unmatched', recordsSeen: 0 };
export const refusal = (code: Extract<AdmitOutcome, { kind: 'refused' }>['code']): AdmitOutcome => ({
  kind: 'refused',
  code,
});

/** The id of the proposed parent; null for a root. */
export function parentOf(outcome: AdmitOutcome): string | null {
  if (outcome.kind !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(outcome)}`);
  return outcome.candidate?.callId ?? null;
}

/** Waits for something that comes by itself; for what takes real time. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('it did not come about in 20 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
