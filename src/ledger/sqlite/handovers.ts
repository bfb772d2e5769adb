/**
 * Who waits for which reply that was not handed over yet: what a re-send may claim (design, "Never twice"). True only while this process lives, so it lies in
 * memory; the calls whose kept replies an earlier process could not hand over are entered at start, without anybody who waits.
 *
 * Changes are undone when the transaction that they belong to is rolled back.
 */
export class Handovers {
  /** By attempt and request digest, then by call id, in order of admission: the ids of those who wait. */
  readonly #waiters = new Map<string, Map<string, Set<string>>>();
  #undo: (() => void)[] = [];

  /** A call whose reply somebody waits for; `waiter` null: nobody any more. */
  add(attempt: number, requestDigest: string, callId: string, waiter: string | null): void {
    const key = keyOf(attempt, requestDigest);
    const calls = this.#waiters.get(key) ?? new Map<string, Set<string>>();
    this.#waiters.set(key, calls);
    calls.set(callId, new Set(waiter === null ? [] : [waiter]));
    this.#undo.push(() => this.#remove(key, callId));
  }

  /** The reply is handed over, or there will be none. */
  end(attempt: number, requestDigest: string | null, callId: string): void {
    if (requestDigest === null) return;
    const key = keyOf(attempt, requestDigest);
    const calls = this.#waiters.get(key);
    if (!calls?.has(callId)) return;
    const rest = new Map(calls);
    rest.delete(callId);
    if (rest.size === 0) this.#waiters.delete(key);
    else this.#waiters.set(key, rest);
    this.#undo.push(() => this.#waiters.set(key, calls));
  }

  join(attempt: number, requestDigest: string, callId: string, waiter: string): void {
    const waiters = this.#waiters.get(keyOf(attempt, requestDigest))?.get(callId);
    if (!waiters || waiters.has(waiter)) return;
    waiters.add(waiter);
    this.#undo.push(() => waiters.delete(waiter));
  }

  /** `waiter` null: nobody waits any more. */
  leave(attempt: number, requestDigest: string | null, callId: string, waiter: string | null): void {
    if (requestDigest === null) return;
    const waiters = this.#waiters.get(keyOf(attempt, requestDigest))?.get(callId);
    for (const left of waiter === null ? [...(waiters ?? [])] : [waiter]) {
      if (waiters?.delete(left)) this.#undo.push(() => waiters.add(left));
    }
  }

  /** Calls for this request whose reply nobody waits for, or that `waiter` waits for, oldest first. */
  claimable(attempt: number, requestDigest: string, waiter: string): string[] {
    const calls = this.#waiters.get(keyOf(attempt, requestDigest)) ?? [];
    return [...calls].filter(([, waiters]) => waiters.size === 0 || waiters.has(waiter)).map(([callId]) => callId);
  }

  /** What has happened is in the file. */
  keep(): void {
    this.#undo = [];
  }

  rollBack(): void {
    for (const undo of this.#undo.reverse()) undo();
    this.#undo = [];
  }

  #remove(key: string, callId: string): boolean {
    const calls = this.#waiters.get(key);
    const removed = calls?.delete(callId) ?? false;
    if (calls?.size === 0) this.#waiters.delete(key);
    return removed;
  }
}

const keyOf = (attempt: number, requestDigest: string) => `${attempt} ${requestDigest}`;
