import type { ScriptedAnswer } from '../../../src/reference-worker/model.ts';

/** Which call a call must continue, or why it must be a root, under schema 3; what that means under schema 2 follows (generations.ts). */
export type Expectation = { readonly parent: string } | { readonly root: RootExpectation };

/** Members of `why_root` that must be there, with these values. */
export interface WhyExpectation {
  readonly cause: string;
  /** The call that `why_root` must name as the nearest one. */
  readonly nearest?: string;
  /** Further members, by name. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface RootExpectation extends WhyExpectation {
  /** Given where the client changes its history on an ordinary turn: what it does, and why; stands in docs/agents.md. */
  readonly rewrite?: string;
  /**
   * The request holds no turn of the model: the conversation begins anew, so the call is a root under schema 2 as well. Default: only with the cause `first_call`.
   * What the agent sent is checked for it.
   */
  readonly beginsAnew?: boolean;
  /** What `why_root` says under schema 2, where the nearest call of schema 3 has no record. */
  readonly schema2?: WhyExpectation;
}

export interface ScriptedCall {
  readonly id: string;
  readonly answer: Omit<ScriptedAnswer, 'id' | 'when' | 'times'>;
  /** Which call gets this answer; default: the next one that no `when` takes. */
  readonly when?: NonNullable<ScriptedAnswer['when']>;
  readonly expect: Expectation;
  readonly sees?: readonly string[];
  readonly lacks?: readonly string[];
}
