/**
 * How many bytes of replies this replica keeps on Redis for re-sends, oldest first. Only an account: the replies lie with their attempts, in other hash
 * slots, so no step could count them all. Each replica stays within its bound; the server ends what a dead one left, after `keepS`.
 */
export class KeptReplies {
  readonly #keepBytes: number;
  readonly #keepS: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();
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
  add(attempt: string, callId: string, bytes: number): Kept[] {
    const dropped: Kept[] = [];
    const nowS = this.#now();
    for (const [key, kept] of this.#kept) {
      const isOver = kept.untilS <= nowS;
      if (!isOver && this.bytes + bytes <= this.#keepBytes) break;
      this.#remove(key, kept);
      dropped.push(kept);
    }
    this.#kept.set(nameOf(attempt, callId), { attempt, callId, bytes, untilS: nowS + this.#keepS });
    this.bytes += bytes;
    return dropped;
  }

  /** The reply is gone from the server. */
  forget(attempt: string, callId: string): void {
    const key = nameOf(attempt, callId);
    const kept = this.#kept.get(key);
    if (kept) this.#remove(key, kept);
  }

  /** Replies whose time is up. */
  takeExpired(): Kept[] {
    const nowS = this.#now();
    const expired: Kept[] = [];
    for (const [key, kept] of this.#kept) {
      if (kept.untilS > nowS) break;
      this.#remove(key, kept);
      expired.push(kept);
    }
    return expired;
  }

  #remove(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.bytes -= kept.bytes;
  }
}

export interface Kept {
  readonly attempt: string;
  readonly callId: string;
  readonly bytes: number;
  readonly untilS: number;
}

const nameOf = (attempt: string, callId: string) => `${attempt}\0${callId}`;
