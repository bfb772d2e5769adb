/** An account of the replies that are kept for re-sends, oldest first: what has to go for a new one, and when. `Attempt`: how the store names it. */
export class KeptReplies<Attempt extends string | number> {
  readonly #keepBytes: number;
  readonly #keepS: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept<Attempt>>();
  bytes = 0;

  constructor(bounds: { readonly keepBytes: number; readonly keepS: number }, now: () => number) {
    this.#keepBytes = bounds.keepBytes;
    this.#keepS = bounds.keepS;
    this.#now = now;
  }

  fits(bytes: number): boolean {
    return this.#keepS > 0 && bytes <= this.#keepBytes;
  }

  /** Enters a reply that is kept now; returns those that have to go for it. */
  add(attempt: Attempt, callId: string, bytes: number): Kept<Attempt>[] {
    const dropped: Kept<Attempt>[] = [];
    const nowS = this.#now();
    for (const [key, kept] of this.#kept) {
      const isOver = kept.untilS <= nowS;
      if (!isOver && this.bytes + bytes <= this.#keepBytes) break;
      this.#remove(key, kept);
      dropped.push(kept);
    }
    this.enter({ attempt, callId, bytes, untilS: nowS + this.#keepS });
    return dropped;
  }

  /** Enters a reply that was kept before, in order of its time. */
  enter(kept: Kept<Attempt>): void {
    this.#kept.set(nameOf(kept.attempt, kept.callId), kept);
    this.bytes += kept.bytes;
  }

  /** The reply is not kept any more. `false`: it was not. */
  forget(attempt: Attempt, callId: string): boolean {
    const key = nameOf(attempt, callId);
    const kept = this.#kept.get(key);
    if (kept) this.#remove(key, kept);
    return kept !== undefined;
  }

  clear(): void {
    this.#kept.clear();
    this.bytes = 0;
  }

  /** Replies whose time is up. */
  takeExpired(): Kept<Attempt>[] {
    const nowS = this.#now();
    const expired: Kept<Attempt>[] = [];
    for (const [key, kept] of this.#kept) {
      if (kept.untilS > nowS) break;
      this.#remove(key, kept);
      expired.push(kept);
    }
    return expired;
  }

  #remove(key: string, kept: Kept<Attempt>): void {
    this.#kept.delete(key);
    this.bytes -= kept.bytes;
  }
}

export interface Kept<Attempt> {
  readonly attempt: Attempt;
  readonly callId: string;
  readonly bytes: number;
  readonly untilS: number;
}

const nameOf = (attempt: string | number, callId: string) => `${attempt}\0${callId}`;
