import type { Row } from './rows.ts';
import { SourceError } from './source-error.ts';

/** Log probabilities under the trainer's own policy, per row id, one per token of the row; `-Infinity` where it has none. */
export type TrainerLogprobs = ReadonlyMap<string, readonly number[]>;

/**
 * Pooled sequence error of a rollout (protocol section 11, "Formulas"): the mean over its generated tokens, each once, of
 * exp(|trainer logprob - generation logprob|), tokens with `-Infinity` left out. Null where no token is left. Throws where a row's log probabilities
 * are missing or not as many as its tokens: the caller joined the wrong things.
 */
export function sequenceError(rows: readonly Row[], trainer: TrainerLogprobs): number | null {
  let sum = 0;
  let count = 0;
  for (const { rowId, tokenIds, lossMask, logprobs } of rows) {
    const own = trainer.get(rowId);
    if (own === undefined) throw new SourceError(`there are no trainer log probabilities for row ${rowId}`);
    if (own.length !== tokenIds.length) {
      throw new SourceError(`row ${rowId} has ${tokenIds.length} tokens and ${own.length} trainer log probabilities`);
    }
    for (const [at, mask] of lossMask.entries()) {
      const difference = Math.abs((own[at] as number) - (logprobs[at] as number));
      if (mask !== 1 || !Number.isFinite(difference)) continue;
      sum += Math.exp(difference);
      count++;
    }
  }
  return count === 0 ? null : sum / count;
}
