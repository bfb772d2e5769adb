import type { CallIds, Events } from '../events.ts';
import { type Ledger, LedgerUnavailable } from '../ledger/ledger.ts';
import type { FailureReason } from '../protocol/wire/ledger.ts';

/** What the ledger is still to be told of a call that has ended. */
export type OwedRow =
  | { readonly kind: 'failure'; readonly reason: FailureReason }
  | { readonly kind: 'refusal'; readonly code: string };

const MOST = 10_000;

/**
 * Rows of calls that ended while the ledger was away for longer than `ledger.commit_retry_s`. They are written as soon as it is back: until then their intents would be
 * pending on a replica that lives, so that no sweep would settle them and every close would wait its whole time for them. A process that dies before leaves them
 * to the next sweep.
 */
export class OwedRows {
  private readonly rows = new Map<string, { readonly ids: CallIds; readonly row: OwedRow }>();
  private readonly ledger: Pick<Ledger, 'addFailure' | 'settleRefused'>;
  private readonly events: Pick<Events, 'owedRowsWritten'>;

  constructor(ledger: Pick<Ledger, 'addFailure' | 'settleRefused'>, events: Pick<Events, 'owedRowsWritten'>) {
    this.ledger = ledger;
    this.events = events;
  }

  /** The newest `MOST` are kept; a later row of the same call takes the place of an earlier one. */
  add(ids: CallIds, row: OwedRow): void {
    this.rows.set(ids.callId, { ids: { attempt: ids.attempt, callId: ids.callId }, row });
    if (this.rows.size > MOST) this.rows.delete(this.rows.keys().next().value as string);
  }

  /** Writes what is owed; stops at the first that the ledger cannot take. */
  async settle(): Promise<void> {
    let written = 0;
    try {
      for (const [callId, { ids, row }] of [...this.rows]) {
        if (row.kind === 'failure') await this.ledger.addFailure(ids.attempt, ids.callId, row.reason);
        else await this.ledger.settleRefused(ids.attempt, ids.callId, row.code);
        this.rows.delete(callId);
        written += 1;
      }
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
    } finally {
      if (written > 0) this.events.owedRowsWritten(written, this.rows.size);
    }
  }
}
