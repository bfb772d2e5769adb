import type { ScriptedAnswer } from '../../../src/reference-worker/model.ts';

/** Which call a call must continue, or why it must be a root. */
export type Expectation = { readonly parent: string } | { readonly root: RootExpectation };

/** Members of `why_root` that must be there, with these values. */
export interface RootExpectation {
  readonly cause: string;
  /** The call that `why_root` must name as the nearest one. */
  readonly nearest?: string;
  /** Further members, by name. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Given where the client changes its history on an ordinary turn: what it does, and why; stands in docs/agents.md. */
  readonly rewrite?: string;
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
