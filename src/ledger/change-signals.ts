/** Wakes those who wait for something to change in an attempt (Ledger.changed). */
export class ChangeSignals {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves at the next `tell(attempt)`, after `waitMs` at the latest. */
  wait(attempt: string, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(attempt) ?? new Set();
      this.#waiting.set(attempt, waiters);
      const wake = () => {
        clearTimeout(timer);
        waiters.delete(wake);
        if (waiters.size === 0 && this.#waiting.get(attempt) === waiters) this.#waiting.delete(attempt);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      waiters.add(wake);
    });
  }

  tell(attempt: string): void {
    for (const wake of [...(this.#waiting.get(attempt) ?? [])]) wake();
  }
}
