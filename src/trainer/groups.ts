import { type Advantage, computeAdvantages, type Score } from './advantages.ts';
import type { GroupOptions } from './group-options.ts';
import { type Judgement, judgeRollout } from './judge.ts';
import { type Reason, reason } from './reasons.ts';
import type { RolloutOutcome } from './rollout.ts';
import type { TrainerLogprobs } from './sequence-error.ts';
import { type TrainingRow, unweightedRow } from './training-row.ts';

/** What became of a prompt group as a whole. */
export type GroupVerdict =
  | { readonly kind: 'kept'; readonly advantages: readonly Advantage[]; readonly validFraction: number }
  | { readonly kind: 'dropped'; readonly reasons: readonly Reason[]; readonly validFraction: number };

/**
 * Weighs a group by its scores, in order (protocol section 11): drops it below the minimum valid fraction, or where its rewards cannot be compared, else gives each rollout
 * its advantage.
 */
export function weighGroup(group: string, scores: readonly Score[], options: GroupOptions): GroupVerdict {
  const valid = scores.filter((score) => score.valid).length;
  const validFraction = scores.length === 0 ? 0 : valid / scores.length;
  if (validFraction < options.minValidFraction) {
    const message = `group ${group} is dropped: ${valid} of ${scores.length} rollouts are valid, less than ${options.minValidFraction}`;
    return { kind: 'dropped', reasons: [reason('group_below_valid_fraction', message)], validFraction };
  }
  const advantages = computeAdvantages(scores, options);
  if (advantages === null) {
    const message = `group ${group} is dropped: its rewards are too large to be compared`;
    return { kind: 'dropped', reasons: [reason('rewards_too_large', message)], validFraction };
  }
  return { kind: 'kept', advantages, validFraction };
}

/** A group with all its rows in memory; see the rows command for one rollout at a time. */
export interface AssembledGroup {
  readonly verdict: GroupVerdict;
  /** In the order of the rollouts. */
  readonly judgements: readonly Judgement[];
  /** Rows of all rollouts in order; empty where the group is dropped. */
  readonly rows: readonly TrainingRow[];
}

/** From the outcomes of a prompt group's rollouts to its training rows. `trainer`: own log probabilities, where the threshold is used. */
export function assembleGroup(
  group: string,
  outcomes: readonly RolloutOutcome[],
  options: GroupOptions,
  trainer: TrainerLogprobs | null = null,
): AssembledGroup {
  const judgements = outcomes.map((outcome) => judgeRollout(outcome, options, trainer));
  const verdict = weighGroup(group, judgements, options);
  if (verdict.kind === 'dropped') return { verdict, judgements, rows: [] };
  const rows = judgements.flatMap(({ rows: own, reward }, at) => {
    const { truncated } = outcomes[at] as RolloutOutcome;
    const { advantage } = verdict.advantages[at] as Advantage;
    return own.map((row) => ({ ...unweightedRow(row, reward as number, truncated), advantage }));
  });
  return { verdict, judgements, rows };
}
