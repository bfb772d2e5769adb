import type { GroupOptions } from './group-options.ts';

/** What of a rollout counts in its group. */
export interface Score {
  /** Null: there is none, and the rollout is not valid. */
  readonly reward: number | null;
  /** Neither masked nor filtered: it carries loss, and its reward counts in baselines. */
  readonly valid: boolean;
  /** A masked rollout whose reward counts in baselines all the same. */
  readonly countsInBaseline: boolean;
}

export interface Advantage {
  /** Null where the rollout is not valid. */
  readonly baseline: number | null;
  /** 0 where the rollout is not valid. */
  readonly advantage: number;
}

const EPSILON = 1e-6;

/**
 * One advantage per rollout, in order: reward - baseline, divided by the deviation where that is asked for, then clipped. The deviation is that of all
 * rewards that count in the group, also under leave-one-out. A rollout without others to compare with is its own baseline. Null where the rewards are so large that
 * their sums are none.
 */
export function computeAdvantages(
  scores: readonly Score[],
  options: Pick<GroupOptions, 'baseline' | 'normalize' | 'clip'>,
): Advantage[] | null {
  const counting = scores.flatMap(({ reward, valid, countsInBaseline }) => {
    return reward !== null && (valid || countsInBaseline) ? [reward] : [];
  });
  const sum = counting.reduce((total, reward) => total + reward, 0);
  const mean = sum / counting.length;
  const deviation = Math.sqrt(counting.reduce((total, reward) => total + (reward - mean) ** 2, 0) / counting.length);

  if (!Number.isFinite(sum) || (options.normalize && deviation === Number.POSITIVE_INFINITY)) return null;

  const advantages = scores.map(({ reward, valid }) => {
    if (!valid || reward === null) return { baseline: null, advantage: 0 };
    const others = counting.length - 1;
    const leaveOneOut = others === 0 ? reward : (sum - reward) / others;
    const baseline = options.baseline === 'mean' ? mean : leaveOneOut;
    const difference = reward - baseline;
    const scaled = options.normalize && deviation > 0 ? difference / (deviation + EPSILON) : difference;
    return { baseline, advantage: clip(scaled, options.clip) };
  });
  return advantages.every(({ advantage }) => Number.isFinite(advantage)) ? advantages : null;
}

function clip(value: number, bounds: GroupOptions['clip']): number {
  return bounds === null ? value : Math.min(Math.max(value, bounds.low), bounds.high);
}
