import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, FaultQueue } from './faults.ts';
import { type HoldPoint, Holds } from './holds.ts';
import type { CallFacts, WorkerRoute } from './match.ts';
import { ScriptedModel } from './model.ts';
import type { ReferenceWorkerOptions, WorkerSettings } from './options.ts';
import { withDefaults } from './options.ts';
import { plainRenderer, type Renderer, templateRenderer } from './render.ts';
import { createTokenizer, type Tokenizer } from './tokenizer.ts';
import { TransferQueue } from './transfer-queue.ts';
import { WorkerLog } from './worker-log.ts';

/** A request as it came, for tests. */
export interface KeptRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Everything that a running worker is made of, built once. */
export class WorkerContext {
  readonly settings: WorkerSettings;
  readonly tokenizer: Tokenizer;
  readonly renderer: Renderer;
  readonly model = new ScriptedModel();
  readonly faults = new FaultQueue();
  readonly holds = new Holds();
  readonly queue: TransferQueue;
  readonly log: WorkerLog;
  readonly requests: KeptRequest[] = [];
  /** Of the policy that is loaded now; a call keeps the value that it was admitted with. */
  weightVersion: number;
  private readonly callCounts = new Map<string, number>();

  constructor(options: ReferenceWorkerOptions) {
    const settings = withDefaults(options);
    this.settings = settings;
    this.tokenizer = createTokenizer(new Map(Object.entries(settings.vocabulary)));
    this.renderer =
      settings.template === 'none'
        ? plainRenderer(this.tokenizer)
        : templateRenderer(this.tokenizer, { reasoning: settings.templateReasoning });
    this.queue = new TransferQueue(settings.queueFile);
    const { logFile } = settings;
    this.log = new WorkerLog(settings.nowS, settings.logLimit, (event) => {
      if (logFile !== null) appendFileSync(logFile, `${JSON.stringify(event)}\n`);
    });
    this.weightVersion = settings.weightVersion;
    if (options.script !== undefined) this.model.load(options.script);
  }

  keepRequest(request: KeptRequest): void {
    this.requests.push(request);
    if (this.requests.length > this.settings.keptRequests) this.requests.shift();
  }

  /** Number of this call, from 0: on its route, or within an attempt. */
  count(scope: `route ${WorkerRoute}` | `attempt ${string}`): number {
    const count = this.callCounts.get(scope) ?? 0;
    this.callCounts.set(scope, count + 1);
    return count;
  }

  /** Waits as the fault says at this point of a call. */
  async pause(fault: Fault | null, at: HoldPoint, facts: CallFacts): Promise<void> {
    if (fault === null || (fault.wait_at ?? 'answer') !== at) return;
    if (fault.delay_ms !== undefined) await sleep(fault.delay_ms);
    if (fault.kind !== 'hold' && fault.until_released !== true) return;
    await this.holds.hold({ capture_key: facts.attempt, model_call_id: facts.modelCallId, at });
  }

  /** Frees everything that outlives calls. Held calls are let go. */
  close(): void {
    this.holds.release();
    this.queue.close();
  }
}
