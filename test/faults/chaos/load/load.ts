import type { Incarnation } from '../evidence.ts';
import type { Random } from '../random.ts';
import { runRollout } from './rollout.ts';
import { Trainer } from './trainer.ts';
import type { LoadWorld } from './world.ts';

/** Seconds that the last closes wait for calls that still run. */
const LAST_WAIT_S = 30;

/** Runs rollouts, `concurrency` at a time, until it is stopped; names of deleted attempts are used again. */
export class Load {
  private readonly world: LoadWorld;
  private readonly random: Random;
  private readonly kept: Incarnation[] = [];
  private readonly free: { readonly attempt: string; readonly generation: number }[] = [];
  /** Names of attempts whose rollouts are running. */
  readonly active = new Set<string>();
  private names = 0;
  private rollouts = 0;
  private readonly lanes: Promise<void>[];

  constructor(world: LoadWorld, random: Random, concurrency: number) {
    this.world = world;
    this.random = random;
    this.lanes = Array.from({ length: concurrency }, () => this.lane());
  }

  private async lane(): Promise<void> {
    while (!this.world.isStopping()) {
      const again = this.random.chance(0.7) ? this.free.shift() : undefined;
      this.names += again === undefined ? 1 : 0;
      const attempt = again?.attempt ?? `chaos-${this.names}`;
      const incarnation = this.world.book.begin(attempt, (again?.generation ?? 0) + 1);
      this.rollouts += 1;
      this.active.add(attempt);
      const ending = await runRollout(this.world, incarnation, this.random.fork(`rollout ${this.rollouts}`));
      this.active.delete(attempt);
      if (ending.kind === 'kept') this.kept.push(ending.incarnation);
      if (ending.kind === 'free') this.free.push(ending);
    }
  }

  /** Resolves when the rollouts that were running have ended. Call it once the world is stopping. */
  async finished(): Promise<void> {
    await Promise.all(this.lanes);
  }

  /** Closes and reads what was kept, once everything runs again: by now every call has come to its end. */
  async settle(): Promise<void> {
    for (const incarnation of this.kept) {
      await new Trainer(this.world, incarnation, this.random.fork('last look')).close(LAST_WAIT_S);
      incarnation.isFinal = true;
    }
  }
}
