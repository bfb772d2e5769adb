import type { Row } from './rows.ts';

/** A line of the output, as the trainer's loader reads it: names are the file's. */
export interface TrainingRow {
  /** `{group}_g{slot}_s{segment}`, padding `{group}_pad{k}`. */
  readonly row_id: string;
  /** The attempt; null for padding. */
  readonly rollout: string | null;
  readonly segment: number | null;
  readonly model_call_ids: readonly string[];
  readonly token_ids: readonly number[];
  /** 1 where the token carries loss. As many entries as `token_ids`, like `logprobs`. */
  readonly loss_mask: readonly number[];
  readonly logprobs: readonly number[];
  /** One per call of `model_call_ids`. */
  readonly weight_versions: readonly number[];
  /** Of the whole rollout; null for padding. */
  readonly reward: number | null;
  readonly advantage: number;
  /** The rollout has a selected call that was cut for length. */
  readonly truncated: boolean;
  readonly padding: boolean;
}

/** Everything of a training row that does not wait for the rest of the group. */
export type UnweightedRow = Omit<TrainingRow, 'advantage'>;

export function unweightedRow(row: Row, reward: number, truncated: boolean): UnweightedRow {
  return {
    row_id: row.rowId,
    rollout: row.rollout,
    segment: row.segment,
    model_call_ids: row.spans.map((span) => span.callId),
    token_ids: row.tokenIds,
    loss_mask: row.lossMask,
    logprobs: row.logprobs,
    weight_versions: row.spans.map((span) => span.weightVersion),
    reward,
    truncated,
    padding: false,
  };
}
