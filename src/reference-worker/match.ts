import { z } from 'zod';

/** The routes that scripts and faults can tell apart. */
export const workerRoute = z.enum(['chat', 'tokenize', 'models', 'health']);
export type WorkerRoute = z.infer<typeof workerRoute>;

/** Which calls a scripted answer or a fault is for: every member that is given must hold. */
export const callMatch = z.strictObject({
  /** The `capture_key`. */
  attempt: z.string().optional(),
  model_call_id: z.string().optional(),
  model: z.string().optional(),
  captured: z.boolean().optional(),
  /** Number of the call on its route, from 0, since the worker started. */
  call_index: z.int().min(0).optional(),
  /** Number of the captured call within its attempt, from 0. */
  attempt_index: z.int().min(0).optional(),
  /** How many assistant messages the history holds. */
  turn: z.int().min(0).optional(),
  /** The text of the last user or tool message contains this. */
  contains: z.string().optional(),
  last_role: z.string().optional(),
  has_tools: z.boolean().optional(),
});
export type CallMatch = z.infer<typeof callMatch>;

/** What is known of a call when scripts and faults are asked. */
export interface CallFacts {
  readonly route: WorkerRoute;
  readonly attempt: string | null;
  readonly modelCallId: string | null;
  readonly model: string | null;
  readonly callIndex: number;
  readonly attemptIndex: number | null;
  readonly turn: number;
  /** Text of the last user or tool message. */
  readonly lastText: string;
  readonly lastRole: string | null;
  readonly hasTools: boolean;
}

export function matches(match: CallMatch | undefined, facts: CallFacts): boolean {
  if (match === undefined) return true;
  const same = (wanted: unknown, actual: unknown) => wanted === undefined || wanted === actual;
  return (
    same(match.attempt, facts.attempt) &&
    same(match.model_call_id, facts.modelCallId) &&
    same(match.model, facts.model) &&
    same(match.captured, facts.attempt !== null) &&
    same(match.call_index, facts.callIndex) &&
    same(match.attempt_index, facts.attemptIndex) &&
    same(match.turn, facts.turn) &&
    same(match.last_role, facts.lastRole) &&
    same(match.has_tools, facts.hasTools) &&
    (match.contains === undefined || facts.lastText.includes(match.contains))
  );
}
