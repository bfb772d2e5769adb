import type { Runner } from './connection.ts';
import { replicaKey } from './keys.ts';

const DEFAULT_IDLE_MS = 600_000;
const RELEASES_PER_SWEEP = 2000;
const RELEASES_AT_ONCE = 50;

interface Registration {
  /** Settled once the lists name the attempt, or once a release is through. */
  readonly done: Promise<void>;
  lastUsedMs: number;
}

/**
 * Which attempts this replica may admit to: those that the lists outside their hash slot name, as attempts and as this replica's. They are written before
 * the first admission, so that nothing is admitted that a sweep would not find; the attempt itself notes that it was done (`by:<replica>`).
 */
export class Registrations {
  readonly #runner: Runner;
  readonly #replica: string;
  readonly #idleMs: number;
  readonly #known = new Map<string, Registration>();

  /** `idleMs`: how long an attempt stays registered without admissions. */
  constructor(runner: Runner, replica: string, idleMs = DEFAULT_IDLE_MS) {
    this.#runner = runner;
    this.#replica = replica;
    this.#idleMs = idleMs;
  }

  /** Registers if need be. `true`: it was done just now, so the attempt may not know yet. */
  async ensure(attempt: string): Promise<boolean> {
    const known = this.#known.get(attempt);
    if (known) {
      known.lastUsedMs = performance.now();
      await known.done;
      // A release may have ended it while we waited.
      return this.#known.get(attempt) === known ? false : this.ensure(attempt);
    }
    await this.again(attempt);
    return true;
  }

  /** Registers once more: the attempt does not know of it (it was deleted, or this replica was taken for dead). */
  async again(attempt: string): Promise<void> {
    const registration = { done: this.#register(attempt), lastUsedMs: performance.now() };
    this.#known.set(attempt, registration);
    try {
      await registration.done;
    } catch (error) {
      if (this.#known.get(attempt) === registration) this.#known.delete(attempt);
      throw error;
    }
  }

  async #register(attempt: string): Promise<void> {
    await this.#runner.command('SADD', replicaKey(this.#replica, 'attempts'), attempt);
    await this.#runner.run('register', '', [attempt, this.#replica]);
  }

  /** Ends registrations that have not been used for long, so that lists stay short. */
  async releaseIdle(): Promise<void> {
    const beforeMs = performance.now() - this.#idleMs;
    const idle = [...this.#known].filter(([, { lastUsedMs }]) => lastUsedMs < beforeMs).slice(0, RELEASES_PER_SWEEP);
    for (let from = 0; from < idle.length; from += RELEASES_AT_ONCE) {
      const some = idle.slice(from, from + RELEASES_AT_ONCE).filter(([, { lastUsedMs }]) => lastUsedMs < beforeMs);
      await Promise.all(some.map(([attempt, registration]) => this.#release(attempt, registration)));
    }
  }

  /** Admissions that come meanwhile wait, and register anew if it was ended. */
  async #release(attempt: string, before: Registration): Promise<void> {
    let end: () => void = () => {};
    const releasing = { done: new Promise<void>((resolve) => (end = resolve)), lastUsedMs: before.lastUsedMs };
    this.#known.set(attempt, releasing);
    try {
      const isEnded = (await this.#runner.run('release', attempt, [this.#replica])) === 1;
      if (isEnded) await this.#runner.command('SREM', replicaKey(this.#replica, 'attempts'), attempt);
      if (isEnded) this.#known.delete(attempt);
    } catch (error) {
      // Registering once more does no harm.
      this.#known.delete(attempt);
      throw error;
    } finally {
      end();
    }
  }
}
