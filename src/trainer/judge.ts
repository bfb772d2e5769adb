import type { Score } from './advantages.ts';
import type { GroupOptions } from './group-options.ts';
import { type Reason, reason } from './reasons.ts';
import type { RolloutOutcome } from './rollout.ts';
import type { Row } from './rows.ts';
import { sequenceError, type TrainerLogprobs } from './sequence-error.ts';

/** What a rollout gives to its group, once the group's options have been applied to it. */
export interface Judgement extends Score {
  /** Rows as they are trained on: without loss where the rollout is filtered; none where it is masked. */
  readonly rows: readonly Row[];
  readonly reasons: readonly Reason[];
  readonly sequenceError: number | null;
}

/** Applies overlong filtering and the sequence-error threshold to one rollout (protocol section 11). Needs nothing of the rest of the group. */
export function judgeRollout(
  outcome: RolloutOutcome,
  options: GroupOptions,
  trainer: TrainerLogprobs | null = null,
): Judgement {
  if (outcome.kind === 'masked') {
    const { reward, reasons } = outcome;
    return { reward, valid: false, countsInBaseline: false, rows: [], reasons, sequenceError: null };
  }
  const { rows, reward, truncated } = outcome;
  const reasons: Reason[] = [];
  if (truncated && options.overlongFiltering) {
    reasons.push(reason('overlong', 'a selected call was cut for length, and overlong filtering is on'));
  }
  const error = trainer === null ? null : sequenceError(rows, trainer);
  const threshold = options.sequenceErrorThreshold;
  if (error !== null && threshold !== null && error > threshold) {
    reasons.push(reason('sequence_error', `the pooled sequence error ${error} is above ${threshold}`));
  }
  const valid = reasons.length === 0;
  const onlyByError = reasons.every(({ code }) => code === 'sequence_error');
  return {
    reward,
    valid,
    countsInBaseline: valid || (onlyByError && options.maskedRewardPolicy === 'include'),
    rows: valid ? rows : rows.map(withoutLoss),
    reasons,
    sequenceError: error,
  };
}

function withoutLoss(row: Row): Row {
  return {
    ...row,
    lossMask: row.lossMask.map(() => 0),
    spans: row.spans.map((span) => ({ ...span, withLoss: false })),
  };
}
