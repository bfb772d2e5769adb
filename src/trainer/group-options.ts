/** How the rewards of a prompt group become advantages (protocol section 11, "Formulas"). */
export interface GroupOptions {
  /** `mean`: of all valid rollouts of the group. `leave_one_out`: of the others. */
  readonly baseline: 'mean' | 'leave_one_out';
  /** Divide by the population standard deviation of the group's rewards (plus 1e-6) where that is above 0. */
  readonly normalize: boolean;
  /** Bounds of an advantage, applied last; null: none. */
  readonly clip: { readonly low: number; readonly high: number } | null;
  /** A rollout above it loses its loss; null: no threshold. */
  readonly sequenceErrorThreshold: number | null;
  /** Whether the reward of a rollout above that threshold stays in the baseline. */
  readonly maskedRewardPolicy: 'exclude' | 'include';
  /** A truncated rollout counts as masked. */
  readonly overlongFiltering: boolean;
  /** A group with a smaller share of valid rollouts is dropped. */
  readonly minValidFraction: number;
}

export const DEFAULT_GROUP_OPTIONS: GroupOptions = {
  baseline: 'mean',
  normalize: false,
  clip: null,
  sequenceErrorThreshold: null,
  maskedRewardPolicy: 'exclude',
  overlongFiltering: false,
  minValidFraction: 0,
};
