import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { ChangeSignals } from '../change-signals.ts';
import {
  type AdmitOutcome,
  type AdmitRequest,
  type AttemptOverview,
  type AttemptSnapshot,
  type CommitOutcome,
  type CommitRequest,
  type Ledger,
  type LedgerCheck,
  type LedgerGauges,
  LedgerUnavailable,
  type ProposeOutcome,
  type ProposeRequest,
  type Removal,
  type ReplyState,
  type StoredSketch,
  type SweepReport,
} from '../ledger.ts';
import type { LedgerOptions } from '../options.ts';
import { readInPages } from '../pages.ts';
import { Outbox } from './outbox.ts';
import { packJobs, unpackAnswer } from './packing.ts';
import type { ArgumentsOf, OperationName, ResultOf } from './store.ts';
import type { FromThread, Opened, ThreadData, ToThread } from './thread.ts';

/** Nobody waits for these. */
const CAN_WAIT: ReadonlySet<OperationName> = new Set(['delivered']);

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The ledger in one SQLite file, for one process. See thread.ts: the file is used on a thread of its own, since SQLite's calls block. */
export class SqliteLedger implements Ledger {
  readonly #options: LedgerOptions;
  readonly #path: string;
  readonly #changes = new ChangeSignals();
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  readonly #outbox = new Outbox((jobs) => this.#thread?.port.postMessage(packJobs(jobs) satisfies ToThread));
  #thread: { readonly worker: Worker; readonly port: MessagePort; readonly ended: Promise<void> } | null = null;
  #unusable = 'the ledger has not been started';

  constructor(path: string, options: LedgerOptions) {
    this.#path = path;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { port1: port, port2 } = new MessageChannel();
    const workerData: ThreadData = { path: this.#path, replies: this.#options.replies, port: port2 };
    const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData, transferList: [port2] });
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    let failure = 'the ledger has been stopped';
    worker.once('error', (error) => {
      failure = `the ledger's thread failed: ${error}`;
    });
    worker.once('exit', () => this.#fail(failure));
    const opened = await Promise.race([
      new Promise<Opened>((resolve) => port.once('message', resolve)),
      // The end of a thread can overtake its last word.
      ended.then((): Opened => receiveMessageOnPort(port)?.message ?? { opened: false, message: failure }),
    ]);
    if (!opened.opened) {
      await ended;
      throw new LedgerUnavailable(opened.message);
    }
    port.on('message', (message: FromThread) => this.#receive(message));
    this.#thread = { worker, port, ended };
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    thread.port.postMessage(packJobs(this.#outbox.close()) satisfies ToThread);
    this.#thread = null;
    this.#unusable = 'the ledger has been stopped';
    thread.port.postMessage('close' satisfies ToThread);
    await thread.ended;
  }

  admit(request: AdmitRequest): Promise<AdmitOutcome> {
    return this.#run('admit', request);
  }

  propose(request: ProposeRequest): Promise<ProposeOutcome> {
    return this.#run('propose', request);
  }

  async commit(request: CommitRequest): Promise<CommitOutcome> {
    return this.#tell(request.attempt, await this.#run('commit', request));
  }

  async settleRefused(attempt: string, callId: string, code: string): Promise<boolean> {
    return this.#tell(attempt, await this.#run('settleRefused', attempt, callId, code));
  }

  async addFailure(attempt: string, callId: string, reason: string): Promise<boolean> {
    return this.#tell(attempt, await this.#run('addFailure', attempt, callId, reason));
  }

  clientGone(attempt: string, callId: string, waiter?: string): Promise<void> {
    return this.#run('clientGone', attempt, callId, waiter ?? null);
  }

  delivered(attempt: string, callId: string): Promise<void> {
    return this.#run('delivered', attempt, callId);
  }

  replyOf(attempt: string, callId: string): Promise<ReplyState> {
    return this.#run('replyOf', attempt, callId);
  }

  async close(attempt: string): Promise<'closed' | 'retired'> {
    return this.#tell(attempt, await this.#run('close', attempt));
  }

  unsettled(attempt: string): Promise<number> {
    return this.#run('unsettled', attempt);
  }

  changed(attempt: string, waitMs: number): Promise<void> {
    return this.#changes.wait(attempt, waitMs);
  }

  async retire(attempts: readonly string[]): Promise<Removal> {
    const removal = await this.#run('retire', attempts);
    for (const attempt of attempts) this.#changes.tell(attempt);
    return removal;
  }

  async delete(attempts: readonly string[]): Promise<Removal> {
    const removal = await this.#run('delete', attempts);
    for (const attempt of attempts) this.#changes.tell(attempt);
    return removal;
  }

  snapshot(attempt: string): Promise<AttemptSnapshot | 'retired'> {
    return this.#run('snapshot', attempt);
  }

  records(attempt: string, from: number, limit: number): Promise<string[]> {
    return this.#run('records', attempt, from, limit);
  }

  sketches(attempt: string, before: number): Promise<StoredSketch[]> {
    return readInPages(before, (from, to) => this.#run('sketches', attempt, from, to));
  }

  attempts(cursor: string | null, limit: number): Promise<AttemptOverview[]> {
    return this.#run('attempts', cursor, limit);
  }

  async sweep(): Promise<SweepReport> {
    const { attempts, abandoned, ...report } = await this.#run('sweep', this.#options.abandonedAfterS);
    for (const attempt of [...attempts, ...abandoned]) this.#changes.tell(attempt);
    if (abandoned.length > 0) this.#options.onEvent?.({ kind: 'abandoned', attempts: abandoned });
    return report;
  }

  gauges(): Promise<LedgerGauges> {
    return this.#run('gauges');
  }

  ready(): Promise<void> {
    return this.#run('ready');
  }

  check(): Promise<LedgerCheck[]> {
    return this.#run('check');
  }

  #tell<T>(attempt: string, outcome: T): T {
    this.#changes.tell(attempt);
    return outcome;
  }

  #run<Name extends OperationName>(name: Name, ...args: ArgumentsOf<Name>): Promise<ResultOf<Name>> {
    return new Promise((resolve, reject) => {
      if (!this.#thread) {
        reject(new LedgerUnavailable(this.#unusable));
        return;
      }
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { resolve: resolve as (value: unknown) => void, reject });
      this.#outbox.add({ id: this.#lastId, name, args, nowS: this.#options.now() }, CAN_WAIT.has(name));
    });
  }

  #receive(message: FromThread): void {
    if (message === 'closed' || 'opened' in message) return;
    this.#outbox.answered();
    for (const answer of message.map(unpackAnswer)) {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('value' in answer) waiting?.resolve(answer.value);
      else waiting?.reject(answer.unavailable ? new LedgerUnavailable(answer.message) : new Error(answer.message));
    }
  }

  #fail(message: string): void {
    this.#thread = null;
    this.#unusable = message;
    for (const { reject } of this.#waiting.values()) reject(new LedgerUnavailable(message));
    this.#waiting.clear();
  }
}
