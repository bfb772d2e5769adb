import { createHash } from 'node:crypto';
import { ledgerSchema } from '../../../../src/protocol/wire/ledger.ts';
import { checkReading } from '../checks/readings.ts';
import type { Evidence, Incarnation, Reading, RecordFacts, Sent, Violation, WorkerEvidence } from '../evidence.ts';
import type { Json } from './json.ts';

const ledgerV3 = ledgerSchema(3, 'capture_key');

/** Where agents and trainers write down what they saw. */
export class Book {
  readonly sent: Sent[] = [];
  readonly incarnations: Incarnation[] = [];
  readonly seen: Violation[] = [];
  private readonly keepsText: (attempt: string) => boolean;

  /** `keepsText`: of which attempts ledgers are kept as they came, for rows to be built from. */
  constructor(keepsText: (attempt: string) => boolean) {
    this.keepsText = keepsText;
  }

  /** A new life of an attempt's name. */
  begin(attempt: string, generation: number): Incarnation {
    const incarnation: Incarnation = {
      number: this.incarnations.length,
      attempt,
      generation,
      closed: null,
      latest: null,
      closeAsked: false,
      removed: null,
      isFinal: false,
    };
    this.incarnations.push(incarnation);
    return incarnation;
  }

  complain(violation: Violation): void {
    this.seen.push(violation);
  }

  /** Enters and checks a ledger that a trainer was given; null if it does not parse under the peers' strict models. */
  enterReading(incarnation: Incarnation, text: string, times: { startedMs: number; endedMs: number }): Reading | null {
    const parsed = ledgerV3.safeParse(JSON.parse(text));
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      this.complain({
        invariant: 8,
        rule: 'the manifest parses under the strict models',
        attempt: incarnation.attempt,
        callId: null,
        detail: `${issue?.path.join('.')}: ${issue?.message}`,
      });
      return null;
    }
    const { manifest, state, refused } = parsed.data as unknown as WireLedger;
    const reading: Reading = {
      startedMs: times.startedMs,
      endedMs: times.endedMs,
      state,
      records: manifest.records.map(factsOf),
      failures: manifest.failures.map(({ model_call_id, reason }) => ({ callId: model_call_id, reason })),
      attempted: manifest.attempted_call_ids,
      pending: manifest.pending_call_ids,
      refused: refused.map(({ model_call_id, code }) => ({ callId: model_call_id, code })),
      text: this.keepsText(incarnation.attempt) ? text : null,
    };
    this.seen.push(...checkReading(incarnation, reading));
    incarnation.latest = reading;
    return reading;
  }

  evidence(worker: WorkerEvidence): Evidence {
    return { incarnations: this.incarnations, sent: this.sent, seen: this.seen, worker };
  }
}

interface WireLedger {
  readonly state: 'open' | 'closed';
  readonly manifest: {
    readonly records: readonly Json[];
    readonly failures: readonly { model_call_id: string; reason: string }[];
    readonly attempted_call_ids: readonly string[];
    readonly pending_call_ids: readonly string[];
  };
  readonly refused: readonly { model_call_id: string; code: string }[];
}

function factsOf(record: Json): RecordFacts {
  return {
    callId: record.model_call_id as string,
    parentCallId: record.parent_call_id as string | null,
    responseId: record.response_id as string,
    prevLen: record.prev_len as number,
    deltaLen: record.delta_len as number,
    cumLen: record.cum_len as number,
    digest: record.digest as string,
    chainHash: record.chain_hash as string,
    cumulativeHash: record.cumulative_hash as string,
    stagingKey: record.staging_key as string,
    status: record.response_status as string | null,
    hash: hashOf(JSON.stringify(record)),
  };
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
