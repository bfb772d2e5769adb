import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from './child.ts';
import type { WorkerSettings } from './worker.ts';
import { WorkerFiles } from './worker-files.ts';

/** The reference worker in a process of its own; its log and its tokens outlive it. */
export class WorkerProcess {
  readonly port: number;
  readonly files: WorkerFiles;
  private readonly settings: WorkerSettings;
  private readonly outputFile: string;
  private child: Child | null = null;

  constructor(options: {
    folder: string;
    port: number;
    seed: string;
    faults: number;
    keepsText: (attempt: string) => boolean;
  }) {
    const { folder, port, seed, faults } = options;
    this.port = port;
    this.settings = {
      port,
      seed,
      faults,
      queueFile: join(folder, 'transfer-queue.jsonl'),
      logFile: join(folder, 'worker-log.jsonl'),
      callsFile: join(folder, 'worker-calls.jsonl'),
    };
    this.outputFile = join(folder, 'worker.log');
    this.files = new WorkerFiles(this.settings, options.keepsText);
  }

  async start(): Promise<void> {
    this.child = await startChild({
      entry: new URL('./worker.ts', import.meta.url),
      settings: this.settings,
      outputFile: this.outputFile,
      onMessage: () => undefined,
    });
  }

  async kill(): Promise<void> {
    this.child?.kill('SIGKILL');
    await this.child?.exited;
  }

  /** Kills it and starts it again; `keeps` says of which attempts it still needs the tokens, so that reading them does not take ever longer. */
  async restart(keeps: (attempt: string) => boolean): Promise<void> {
    await this.kill();
    this.files.settle();
    const { queueFile } = this.settings;
    if (existsSync(queueFile)) {
      const lines = readFileSync(queueFile, 'utf8').split('\n');
      // What stands after the last line end was torn by the kill.
      const kept = lines.slice(0, -1).filter((line) => keeps(/"capture_key":"([^"]+)"/.exec(line)?.[1] ?? ''));
      writeFileSync(queueFile, kept.map((line) => `${line}\n`).join(''));
    }
    this.files.queueRewritten();
    await this.start();
  }

  async end(): Promise<void> {
    await this.kill();
  }
}
