import { setTimeout as sleep } from 'node:timers/promises';
import type { Incarnation, Reading } from '../evidence.ts';
import type { Random } from '../random.ts';
import { CONTROL_TOKEN } from '../settings.ts';
import type { Answer } from './ask.ts';
import type { LoadWorld } from './world.ts';

const TRIES = 40;

/** The trainer's side of one incarnation: reads, closes, retires and deletes it, again and again until it is answered. */
export class Trainer {
  private readonly world: LoadWorld;
  private readonly incarnation: Incarnation;
  private readonly random: Random;
  /** False once a request was broken off: it may still be on its way, and act on whoever bears the name by then. */
  isClean = true;

  constructor(world: LoadWorld, incarnation: Incarnation, random: Random) {
    this.world = world;
    this.incarnation = incarnation;
    this.random = random;
  }

  /** The ledger as it is now; null if it cannot be had. */
  read(): Promise<Reading | null> {
    return this.enter('GET', `/ledger/${this.incarnation.attempt}`);
  }

  /** Closes; null if it cannot be done. */
  async close(waitS: number): Promise<Reading | null> {
    this.incarnation.closeAsked = true;
    const reading = await this.enter('POST', `/ledger/${this.incarnation.attempt}/close?wait_s=${waitS}`);
    if (reading !== null) {
      this.incarnation.closed ??= reading;
      if (reading.state !== 'closed') this.complain(5, 'a close closes', `its ledger says ${reading.state}`);
    }
    return reading;
  }

  async remove(operation: 'retire' | 'delete'): Promise<boolean> {
    this.incarnation.removed = operation === 'retire' ? 'retired' : 'deleted';
    const { attempt } = this.incarnation;
    const answer = await this.ask('POST', `/ledger/${operation}`, { capture_keys: [attempt] });
    if (answer === null) return false;
    const { removed, absent } = JSON.parse(answer.text) as { removed: string[]; absent: string[] };
    if (![...removed, ...absent].includes(attempt)) this.complain(0, 'a removal names what it removed', answer.text);
    return true;
  }

  /** The status of a look at a removed attempt's ledger. */
  async statusAfterRemoval(): Promise<number | null> {
    return (await this.ask('GET', `/ledger/${this.incarnation.attempt}`, undefined, [200, 410]))?.status ?? null;
  }

  private async enter(method: 'GET' | 'POST', path: string): Promise<Reading | null> {
    const answer = await this.ask(method, path);
    if (answer === null) return null;
    return this.world.book.enterReading(this.incarnation, answer.text, answer);
  }

  /** Asks until there is an answer of one of these statuses; null if there is none, or another one that says that asking again is useless. */
  private async ask(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    statuses: readonly number[] = [200],
  ): Promise<(Answer & { readonly startedMs: number; readonly endedMs: number }) | null> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      await this.world.whenUp();
      const startedMs = this.world.nowMs();
      const answer = await this.world.client.ask({
        method,
        port: this.world.pickFront(this.random),
        path,
        ...(body === undefined ? {} : { body }),
        headers: { authorization: `Bearer ${CONTROL_TOKEN}` },
      });
      if (answer.whole && answer.status !== null && statuses.includes(answer.status)) {
        return { ...answer, startedMs, endedMs: this.world.nowMs() };
      }
      if (!answer.whole) this.isClean = this.isClean && method === 'GET';
      else if (answer.status !== 503) {
        this.complain(
          7,
          'the trainer gets an answer',
          `${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`,
        );
        return null;
      }
      await sleep(this.random.int(20, 200));
    }
    this.complain(7, 'the trainer gets an answer', `${method} ${path}: none in ${TRIES} tries`);
    return null;
  }

  private complain(invariant: number, rule: string, detail: string): void {
    const { attempt } = this.incarnation;
    this.world.book.complain({ invariant, rule, attempt, callId: null, detail });
  }
}
