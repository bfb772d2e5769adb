import { setTimeout as sleep } from 'node:timers/promises';
import { marksIn } from '../processes/conversation-hash.ts';
import type { WorkerFiles } from '../processes/worker-files.ts';
import type { Random } from '../random.ts';
import { LIMBO_MS } from '../settings.ts';
import { Client } from './ask.ts';
import type { Book } from './book.ts';

const LONGEST_DOWN_MS = 5_000;
const LOOK_EVERY_MS = 20;

/** What one replica is reached by. */
export interface Front {
  readonly port: number;
  isUp(): boolean;
}

/** What agents and trainers share: where the proxies are, and where to write down what was seen. */
export class LoadWorld {
  readonly book: Book;
  readonly client = new Client();
  readonly limboMs = LIMBO_MS;
  private readonly fronts: readonly Front[];
  private readonly worker: WorkerFiles;

  constructor(fronts: readonly Front[], worker: WorkerFiles, book: Book) {
    this.book = book;
    this.fronts = fronts;
    this.worker = worker;
  }

  private stopping = false;

  /** Rollouts end where they are, and no new ones begin. */
  stop(): void {
    this.stopping = true;
  }

  isStopping(): boolean {
    return this.stopping;
  }

  /** Since the epoch, never backwards. */
  nowMs(): number {
    return performance.timeOrigin + performance.now();
  }

  /** Waits until a replica is up, for a while. */
  async whenUp(): Promise<void> {
    for (
      let waitedMs = 0;
      waitedMs < LONGEST_DOWN_MS && !this.fronts.some((front) => front.isUp());
      waitedMs += LOOK_EVERY_MS
    )
      await sleep(LOOK_EVERY_MS);
  }

  /** Requests are spread as a load balancer does, which mostly knows who is down. */
  pickFront(random: Random): number {
    const up = this.fronts.filter((front) => front.isUp());
    return random.pick(up.length === 0 || random.chance(0.1) ? this.fronts : up).port;
  }

  /** Whether the worker has got a request that ends with this text. */
  workerSaw(text: string): boolean {
    this.worker.read();
    return this.worker.lastMarks.has(marksIn(text)[0] ?? '');
  }
}
