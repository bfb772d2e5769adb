import { z } from 'zod';
import { type CallFacts, callMatch, matches, workerRoute } from './match.ts';

const everyFault = {
  /** Default: `chat`. */
  route: workerRoute.optional(),
  /** Only calls that match. */
  match: callMatch.optional(),
  /** How many calls it hits; null: all that match until faults are cleared. Default 1. */
  times: z.int().min(1).nullable().optional(),
  /** Waits so long first ... */
  delay_ms: z.int().min(0).optional(),
  /** ... or until `POST /control/release`. */
  until_released: z.boolean().optional(),
  /** Where it waits: before generating, or (default) after staging, with the answer ready. */
  wait_at: z.enum(['admission', 'answer']).optional(),
};

/** Members that are set or taken away, at the top level of an object. */
const patch = z.strictObject({
  set: z.record(z.string(), z.unknown()).optional(),
  unset: z.array(z.string()).optional(),
});
export type Patch = z.infer<typeof patch>;

/** A misbehaviour. Those without members of their own are told by their kind. */
export const fault = z.discriminatedUnion('kind', [
  z.strictObject({
    ...everyFault,
    kind: z.enum([
      /** Nothing but the wait. */
      'late',
      /** `late` until released. */
      'hold',
      /** Staged, but the answer has no `ng_commit_coords`. */
      'lose_acknowledgement',
      /** Storing fails: disposition `capture_failed`. */
      'capture_failed',
      /** Coordinates of another attempt and call. */
      'foreign_coordinates',
      /** Coordinates of the wrong shape. */
      'malformed_coordinates',
      /** Coordinates whose lengths do not add up. */
      'diverging_lengths',
      /** Starts a root although the candidate holds. */
      'root_instead',
      /** The connection is closed before anything is looked at. */
      'drop_before_answer',
      /** The delta is staged, then the connection is closed without an answer. */
      'stage_and_die',
      /** The connection is closed in the middle of the answer's body. */
      'drop_mid_body',
      /** Finish reason `abort`. */
      'abort',
      'missing_id',
      'no_choices',
      /** `/tokenize` answers as if it did not know `ng_capture`. */
      'not_measured',
    ]),
  }),
  z.strictObject({
    ...everyFault,
    /** Any HTTP answer instead of generating. */
    kind: z.literal('status'),
    status: z.int().min(200).max(599),
    /** A string is sent as it is, everything else as JSON. Default: an error object of the engine's shape. */
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    retry_after: z.union([z.int().min(0), z.string()]).optional(),
  }),
  z.strictObject({
    ...everyFault,
    /** The refusal for context length, whatever the length. */
    kind: z.literal('length_refusal'),
    input_tokens: z.int().min(0).optional(),
  }),
  z.strictObject({ ...everyFault, ...patch.shape, kind: z.literal('patch_coordinates') }),
  z.strictObject({ ...everyFault, ...patch.shape, kind: z.literal('patch_completion') }),
]);
export type Fault = z.infer<typeof fault>;
export type FaultKind = Fault['kind'];

interface Armed {
  readonly fault: Fault;
  left: number;
}

/** Faults in the order in which they were armed. A call is hit by the first one that is for it, and by no other. */
export class FaultQueue {
  private armed: Armed[] = [];

  arm(faults: readonly Fault[]): void {
    const added = faults.map((one) => ({ fault: one, left: one.times === undefined ? 1 : (one.times ?? Infinity) }));
    this.armed = [...this.armed, ...added];
  }

  clear(): void {
    this.armed = [];
  }

  list(): Fault[] {
    return this.armed.map(({ fault: one }) => one);
  }

  /** The fault for this call, used up by one. */
  take(facts: CallFacts): Fault | null {
    const hit = this.armed.find(({ fault: one }) => (one.route ?? 'chat') === facts.route && matches(one.match, facts));
    if (hit === undefined) return null;
    hit.left -= 1;
    if (hit.left <= 0) this.armed = this.armed.filter((one) => one !== hit);
    return hit.fault;
  }
}

export function applyPatch(target: Record<string, unknown>, change: Patch): Record<string, unknown> {
  const changed = { ...target, ...change.set };
  for (const key of change.unset ?? []) delete changed[key];
  return changed;
}
