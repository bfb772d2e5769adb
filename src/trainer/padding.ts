import type { TrainingRow } from './training-row.ts';

/** How many rows make a number of rows a multiple of the execution row count: (-rows) modulo it. */
export function paddingCount(rows: number, multiple: number): number {
  if (!Number.isSafeInteger(multiple) || multiple < 1)
    throw new RangeError('the execution row count is a positive integer');
  return (multiple - (rows % multiple)) % multiple;
}

/** Rows to append: one token without loss each, no reward, advantage 0. Ids `{group}_pad{k}`. `padTokenId`: default 0. */
export function paddingRows(group: string, rows: number, multiple: number, padTokenId = 0): TrainingRow[] {
  return Array.from({ length: paddingCount(rows, multiple) }, (_, at) => ({
    row_id: `${group}_pad${at}`,
    rollout: null,
    segment: null,
    model_call_ids: [],
    token_ids: [padTokenId],
    loss_mask: [0],
    logprobs: [0],
    weight_versions: [],
    reward: null,
    advantage: 0,
    truncated: false,
    padding: true,
  }));
}
