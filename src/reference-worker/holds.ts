import { EventEmitter, once } from 'node:events';
import { z } from 'zod';

/** Where in a call it waits: after the admission was read, or after staging, before the answer. */
export type HoldPoint = 'admission' | 'answer';

/** A call that waits to be released. */
export interface HeldCall {
  readonly capture_key: string | null;
  readonly model_call_id: string | null;
  readonly at: HoldPoint;
}

/** Which held calls to let go; without members: all. */
export const releaseFilter = z.strictObject({
  attempt: z.string().optional(),
  model_call_id: z.string().optional(),
  at: z.enum(['admission', 'answer']).optional(),
  /** At most so many, the longest waiting first. */
  count: z.int().min(1).optional(),
});
export type ReleaseFilter = z.infer<typeof releaseFilter>;

interface Waiting {
  readonly call: HeldCall;
  readonly letGo: () => void;
}

/** Calls that were told to wait until somebody releases them. */
export class Holds {
  private waiting: Waiting[] = [];
  private readonly changes = new EventEmitter().setMaxListeners(0);

  /** Resolves when the call is released. */
  hold(call: HeldCall): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ call, letGo: resolve });
      this.changes.emit('change');
    });
  }

  /** Lets go of the calls that match, in the order in which they came; says how many. */
  release(filter: ReleaseFilter = {}): number {
    const fits = ({ call }: Waiting) =>
      (filter.attempt === undefined || filter.attempt === call.capture_key) &&
      (filter.model_call_id === undefined || filter.model_call_id === call.model_call_id) &&
      (filter.at === undefined || filter.at === call.at);
    const released = this.waiting.filter(fits).slice(0, filter.count);
    this.waiting = this.waiting.filter((one) => !released.includes(one));
    for (const { letGo } of released) letGo();
    return released.length;
  }

  list(): HeldCall[] {
    return this.waiting.map(({ call }) => call);
  }

  /** Resolves as soon as at least `count` calls are held. Rejects when `signal` aborts. */
  async whenHeld(count: number, signal?: AbortSignal): Promise<HeldCall[]> {
    while (this.waiting.length < count) await once(this.changes, 'change', signal === undefined ? {} : { signal });
    return this.list();
  }
}
