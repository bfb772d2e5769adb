/** A turn of the event loop without any work is over sooner than that, and hardly one with some. */
const IDLE_TURN_MS = 0.03;

/**
 * Waits for a turn of the event loop that had nothing to do, so that what is asked for in one busy moment leaves together: under load one write, one sync, one
 * answer then serves several calls. Without other work that is at once.
 */
export class IdleTurn {
  readonly #mostMs: number;
  readonly #then: () => void;
  #immediate: NodeJS.Immediate | undefined;
  #untilMs = 0;
  #turnBeganMs = 0;

  /** Runs `then` after such a turn, at the latest after `mostMs`. */
  constructor(mostMs: number, then: () => void) {
    this.#mostMs = mostMs;
    this.#then = then;
  }

  /** Does nothing while one is awaited already. */
  await(): void {
    if (this.#immediate !== undefined) return;
    this.#untilMs = performance.now() + this.#mostMs;
    // This turn does not count: there is at least one more, which may bring more.
    this.#turnBeganMs = Number.NEGATIVE_INFINITY;
    this.#immediate = setImmediate(this.#endOfTurn);
  }

  cancel(): void {
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
  }

  readonly #endOfTurn = (): void => {
    // Not by the loop's own count of events: asking for it costs more than a turn.
    const nowMs = performance.now();
    if (nowMs - this.#turnBeganMs < IDLE_TURN_MS || nowMs >= this.#untilMs) {
      this.#immediate = undefined;
      this.#then();
    } else {
      this.#turnBeganMs = nowMs;
      this.#immediate = setImmediate(this.#endOfTurn);
    }
  };
}
