/**
 * What the worker says of itself: `admitted` (a captured call was accepted), `staged` (its delta is stored), `acknowledged` (an answer with staged
 * coordinates was handed to the connection), `measured`, `refused` (answered without generating), `failed` (generated or not, the call has no staged
 * coordinates in its answer), `plain` (an uncaptured call was answered), `fault` (told to misbehave), `client_gone` (the connection was gone before the answer).
 */
export type WorkerEventName =
  | 'admitted'
  | 'measured'
  | 'staged'
  | 'acknowledged'
  | 'plain'
  | 'refused'
  | 'failed'
  | 'fault'
  | 'client_gone';

/** One line of the worker's log. Null: does not apply. With `admitted` parent and `prev_len` are the proposed ones, afterwards the stored ones. */
export interface WorkerEvent {
  readonly seq: number;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly event: WorkerEventName;
  readonly capture_key: string | null;
  readonly model_call_id: string | null;
  readonly parent_call_id: string | null;
  readonly prev_len: number | null;
  readonly delta_len: number | null;
  readonly cum_len: number | null;
  readonly weight_version: number | null;
  readonly status: number | null;
  readonly detail: string | null;
}

export type WorkerEventDetails = Partial<Omit<WorkerEvent, 'seq' | 'at' | 'event'>>;

const NOTHING = {
  capture_key: null,
  model_call_id: null,
  parent_call_id: null,
  prev_len: null,
  delta_len: null,
  cum_len: null,
  weight_version: null,
  status: null,
  detail: null,
};

/** The newest `limit` events in memory, numbered from 1 without gaps; each is also handed to `onEvent`. */
export class WorkerLog {
  private events: WorkerEvent[] = [];
  private seq = 0;
  private readonly nowS: () => number;
  private readonly limit: number;
  private readonly onEvent: (event: WorkerEvent) => void;

  constructor(nowS: () => number, limit: number, onEvent: (event: WorkerEvent) => void) {
    this.nowS = nowS;
    this.limit = limit;
    this.onEvent = onEvent;
  }

  add(event: WorkerEventName, details: WorkerEventDetails): void {
    this.seq += 1;
    const line = { seq: this.seq, at: this.nowS(), event, ...NOTHING, ...details };
    this.events.push(line);
    // Dropped in halves, so that adding stays cheap.
    if (this.events.length > 2 * this.limit) this.events = this.events.slice(-this.limit);
    this.onEvent(line);
  }

  /** Events with a number above `after`, oldest first. */
  list(after = 0): WorkerEvent[] {
    return this.events.slice(-this.limit).filter((event) => event.seq > after);
  }
}
