/**
 * Waits for a turn of the event loop that had nothing to do, so that what is asked for in one busy moment leaves together: under load one write, one sync, one
 * answer then serves several calls. Without other work that is at once.
 */
export class IdleTurn {
  readonly #mostMs: number;
  readonly #then: () => void;
  #immediate: NodeJS.Immediate | undefined;
  #untilMs = 0;
  #eventsBefore = 0;

  /** Runs `then` after such a turn, at the latest after `mostMs`. */
  constructor(mostMs: number, then: () => void) {
    this.#mostMs = mostMs;
    this.#then = then;
  }

  /** Does nothing while one is awaited already. */
  await(): void {
    if (this.#immediate !== undefined) return;
    this.#untilMs = performance.now() + this.#mostMs;
    // No number of events: there is at least one more turn, which may bring more.
    this.#eventsBefore = -1;
    this.#immediate = setImmediate(this.#endOfTurn);
  }

  cancel(): void {
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
  }

  readonly #endOfTurn = (): void => {
    const { events } = performance.nodeTiming.uvMetricsInfo;
    if (events === this.#eventsBefore || performance.now() >= this.#untilMs) {
      this.#immediate = undefined;
      this.#then();
    } else {
      this.#eventsBefore = events;
      this.#immediate = setImmediate(this.#endOfTurn);
    }
  };
}
