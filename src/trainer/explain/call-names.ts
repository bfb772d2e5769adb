import type { LedgerView } from '../ledger-view.ts';

/** Short names for the calls of a ledger: ids of up to 12 characters stand as they are, longer ones become c1, c2, ... in order of admission. */
export class CallNames {
  private readonly names = new Map<string, string>();

  constructor(ledger: LedgerView) {
    const recorded = ledger.records.map((record) => record.model_call_id);
    const others = [...ledger.pendingCallIds, ...ledger.failures.map((failure) => failure.model_call_id)];
    const ids = new Set([...(ledger.attemptedCallIds ?? []), ...recorded, ...others]);
    const short = [...ids].every((id) => id.length <= 12);
    for (const id of ids) this.names.set(id, short ? id : `c${this.names.size + 1}`);
  }

  of(callId: string): string {
    return this.names.get(callId) ?? callId;
  }

  /** The text with every call id in it replaced by its name. */
  in(text: string): string {
    let out = text;
    for (const [id, name] of this.names) if (id !== name) out = out.replaceAll(id, name);
    return out;
  }

  /** Names that are not the ids themselves, with their ids. */
  legend(): [name: string, callId: string][] {
    return [...this.names].filter(([id, name]) => id !== name).map(([id, name]) => [name, id]);
  }
}
