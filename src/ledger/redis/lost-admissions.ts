import type { Runner } from './connection.ts';

const CODE = 'ledger_unavailable';
/** Longer than any command can lie in a queue on its way to the server. */
const KEEP_MS = String(3_600_000);
/** The first ones are kept: they are the ones that lie on the way to the server. */
const MOST = 100_000;

/**
 * Admissions that were answered with LedgerUnavailable although they may have reached the server, or may still: their calls never ran, so an intent would stay
 * pending for nothing. They are given up by the next sweep that reaches the server. If this process dies before, its lease runs out and the intents get
 * their failure rows.
 */
export class LostAdmissions {
  readonly #runner: Runner;
  readonly #lost = new Map<string, string>();
  readonly #settling = new Map<string, Promise<unknown>>();

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  add(attempt: string, callId: string): void {
    if (this.#lost.size < MOST) this.#lost.set(callId, attempt);
  }

  /** Called before an admission is tried once more: it is not lost any more. */
  async settled(callId: string): Promise<void> {
    this.#lost.delete(callId);
    await this.#settling.get(callId);
  }

  /** Gives up what is lost; returns those that had arrived. Throws LedgerUnavailable if the server still cannot be reached. */
  async settle(): Promise<{ attempt: string; callId: string }[]> {
    const arrived: { attempt: string; callId: string }[] = [];
    for (const [callId, attempt] of [...this.#lost]) {
      if (!this.#lost.has(callId)) continue;
      const settling = this.#runner.run('void_admission', attempt, [callId, CODE, KEEP_MS]);
      this.#settling.set(
        callId,
        settling.catch(() => undefined),
      );
      try {
        if ((await settling) === 1) arrived.push({ attempt, callId });
        this.#lost.delete(callId);
      } finally {
        this.#settling.delete(callId);
      }
    }
    return arrived;
  }
}
