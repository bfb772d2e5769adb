import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from './child.ts';
import type { Plant } from './plants.ts';
import type { ReplicaMessage, ReplicaSettings } from './replica.ts';

export interface ReplicaProcessOptions {
  readonly number: number;
  readonly folder: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly plant: Plant | null;
}

const START_TRIES = 30;

/** A proxy replica that can be killed and started again, on the same port. */
export class ReplicaProcess {
  readonly number: number;
  /** Calls whose intent is durable and whose record is not, as the replica said last. */
  readonly inFlight = new Set<string>();
  private readonly options: ReplicaProcessOptions;
  private child: Child | null = null;
  private ending = false;

  constructor(options: ReplicaProcessOptions) {
    this.number = options.number;
    this.options = options;
  }

  get isRunning(): boolean {
    return this.child?.isRunning() ?? false;
  }

  get outputFile(): string {
    return join(this.options.folder, `replica-${this.number}.log`);
  }

  /** Starts it; a start that fails because the ledger is down is tried again. */
  async start(): Promise<void> {
    const { flags, plant } = this.options;
    for (let tries = 1; !this.ending; tries += 1) {
      this.inFlight.clear();
      try {
        this.child = await startChild({
          entry: new URL('./replica.ts', import.meta.url),
          settings: { flags, plant } satisfies ReplicaSettings,
          outputFile: this.outputFile,
          onMessage: (message) => this.note(message as ReplicaMessage),
        });
        return;
      } catch (error) {
        if (tries === START_TRIES) throw error;
        await sleep(100);
      }
    }
  }

  private note(message: ReplicaMessage): void {
    if ('intent' in message) this.inFlight.add(message.intent);
    else this.inFlight.delete(message.settled);
  }

  /** SIGKILL. Says how many of its calls were between intent and record. */
  async kill(): Promise<number> {
    this.child?.kill('SIGKILL');
    await this.child?.exited;
    return this.inFlight.size;
  }

  /** SIGSTOP for so long: to everybody else it is dead, then it goes on where it was. */
  async freeze(ms: number): Promise<void> {
    const { child } = this;
    child?.kill('SIGSTOP');
    await sleep(ms);
    child?.kill('SIGCONT');
  }

  async end(): Promise<void> {
    this.ending = true;
    this.child?.kill('SIGKILL');
    await this.child?.exited;
  }
}
