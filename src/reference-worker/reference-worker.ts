import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { StagedRecord } from '../protocol/wire/ledger.ts';
import { type KeptRequest, WorkerContext } from './context.ts';
import type { Fault } from './faults.ts';
import type { HeldCall, ReleaseFilter } from './holds.ts';
import { createServerApp } from './http/server.ts';
import { createInstantHandler } from './instant.ts';
import type { ScriptUpdate } from './model.ts';
import type { ReferenceWorkerOptions } from './options.ts';
import type { WorkerEvent } from './worker-log.ts';

/** Steering and watching a reference worker in the same process. Over HTTP the same is under `/control`, `/log` and `/transfer-queue`. */
export interface ReferenceWorker {
  /** Not listening yet where the worker was only created; `app.inject` works all the same. */
  readonly app: FastifyInstance;
  script(update: ScriptUpdate): void;
  /** Answers of the script that no call has taken yet. */
  scriptRemaining(): number;
  /** Arms faults behind those that are armed already. */
  arm(...faults: Fault[]): void;
  clearFaults(): void;
  /** Lets held calls go; says how many. */
  release(filter?: ReleaseFilter): number;
  held(): HeldCall[];
  /** Resolves as soon as at least `count` calls are held. */
  whenHeld(count: number, signal?: AbortSignal): Promise<HeldCall[]>;
  setWeightVersion(version: number): void;
  stagedRecord(key: string): StagedRecord | undefined;
  stagedKeys(prefix?: string): string[];
  log(after?: number): WorkerEvent[];
  /** The newest requests of engine routes, as they came. */
  requests(): readonly KeptRequest[];
  /** Listens as the options say. */
  listen(): Promise<{ url: string; port: number }>;
  close(): Promise<void>;
}

export interface RunningReferenceWorker extends ReferenceWorker {
  /** Base URL without `/v1`. */
  readonly url: string;
  readonly port: number;
}

/**
 * The worker's side of the capture protocol (sections 5, 6, 9, 10) over HTTP, with a toy tokenizer, a scripted or echoing model and a TransferQueue
 * stand-in. Throws if a queue file cannot be read.
 */
export function createReferenceWorker(options: ReferenceWorkerOptions = {}): ReferenceWorker {
  const worker = new WorkerContext(options);
  const instant = options.instant === undefined ? null : createInstantHandler(worker, options.instant);
  const app = createServerApp(worker, instant);
  return {
    app,
    script: (update) => worker.model.load(update),
    scriptRemaining: () => worker.model.remaining(),
    arm: (...faults) => worker.faults.arm(faults),
    clearFaults: () => worker.faults.clear(),
    release: (filter) => worker.holds.release(filter),
    held: () => worker.holds.list(),
    whenHeld: (count, signal) => worker.holds.whenHeld(count, signal),
    setWeightVersion: (version) => {
      worker.weightVersion = version;
    },
    stagedRecord: (key) => worker.queue.get(key),
    stagedKeys: (prefix) => worker.queue.keys(prefix),
    log: (after) => worker.log.list(after),
    requests: () => worker.requests,
    listen: async () => {
      const { host, port } = worker.settings;
      await app.listen({ host, port });
      const address = app.server.address() as AddressInfo;
      const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      return { url: `http://${name}:${address.port}`, port: address.port };
    },
    close: async () => {
      worker.holds.release();
      await app.close();
      worker.close();
    },
  };
}

/** Creates a reference worker and starts listening. Rejects when the address is taken. */
export async function startReferenceWorker(options: ReferenceWorkerOptions = {}): Promise<RunningReferenceWorker> {
  const worker = createReferenceWorker(options);
  const { url, port } = await worker.listen();
  return { ...worker, url, port };
}
