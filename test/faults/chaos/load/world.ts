import { marksIn } from '../processes/conversation-hash.ts';
import type { WorkerFiles } from '../processes/worker-files.ts';
import type { Random } from '../random.ts';
import { LIMBO_MS } from '../settings.ts';
import { Client } from './ask.ts';
import type { Book } from './book.ts';

/** What agents and trainers share: where the proxies are, and where to write down what was seen. */
export class LoadWorld {
  readonly book: Book;
  readonly client = new Client();
  readonly limboMs = LIMBO_MS;
  private readonly frontPorts: readonly number[];
  private readonly worker: WorkerFiles;

  constructor(frontPorts: readonly number[], worker: WorkerFiles, book: Book) {
    this.book = book;
    this.frontPorts = frontPorts;
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

  /** Requests are spread as a load balancer would. */
  pickFront(random: Random): number {
    return random.pick(this.frontPorts);
  }

  /** Whether the worker has got a request that ends with this text. */
  workerSaw(text: string): boolean {
    this.worker.read();
    return this.worker.lastMarks.has(marksIn(text)[0] ?? '');
  }
}
