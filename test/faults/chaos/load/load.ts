import type { Incarnation } from '../evidence.ts';
import type { Random } from '../random.ts';
import { type Ending, runRollout } from './rollout.ts';
import { Trainer } from './trainer.ts';
import type { LoadWorld } from './world.ts';

/** Seconds that the last closes wait for calls that still run. */
const LAST_WAIT_S = 10;
const LAST_LANES = 16;

/** Runs rollouts, `concurrency` at a time, until it is stopped; names of deleted attempts are used again. */
export class Load {
  private readonly world: LoadWorld;
  private readonly random: Random;
  private readonly kept: Incarnation[] = [];
  /** Lives that have ended, whose names may be used again. */
  private readonly free: Incarnation[] = [];
  private readonly later: Extract<Ending, { kind: 'later' }>[] = [];
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
      const due = this.later.findIndex(({ atMs }) => atMs <= this.world.nowMs());
      const [late] = due === -1 ? [] : this.later.splice(due, 1);
      this.note(late === undefined ? await this.rollout() : await late.remove());
    }
  }

  private async rollout(): Promise<Ending> {
    const again = this.random.chance(0.8) ? this.free.shift() : undefined;
    this.names += again === undefined ? 1 : 0;
    const attempt = again?.attempt ?? `chaos-${this.names}`;
    const incarnation = this.world.book.begin(attempt, (again?.generation ?? 0) + 1);
    this.rollouts += 1;
    this.active.add(attempt);
    const ending = await runRollout(this.world, incarnation, this.random.fork(`rollout ${this.rollouts}`));
    this.active.delete(attempt);
    return ending;
  }

  private note(ending: Ending): void {
    switch (ending.kind) {
      case 'kept':
        this.kept.push(ending.incarnation);
        break;
      case 'free':
        this.free.push(ending.incarnation);
        break;
      case 'later':
        this.later.push(ending);
        break;
      case 'gone':
        break;
      default:
        ending satisfies never;
    }
  }

  /** Resolves when the rollouts that were running have ended. Call it once the world is stopping. */
  async finished(): Promise<void> {
    await Promise.all(this.lanes);
  }

  /** Closes and reads what is left, once everything runs again: by now every call has come to its end. */
  async settle(): Promise<void> {
    const left = [...this.kept, ...this.later.map(({ incarnation }) => incarnation)].filter(
      ({ removed }) => removed === null,
    );
    const lane = async () => {
      for (let incarnation = left.pop(); incarnation !== undefined; incarnation = left.pop()) {
        await new Trainer(this.world, incarnation, this.random.fork('last look')).close(LAST_WAIT_S);
        incarnation.isFinal = true;
      }
    };
    await Promise.all(Array.from({ length: LAST_LANES }, lane));
  }
}
