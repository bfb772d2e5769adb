/** Renderings of one request (protocol section 5, "Continuation"). All token ids. */
export interface SpliceInput {
  /** M: the exact tokens of the predecessor, prompt and generated. */
  readonly exactPrefix: readonly number[];
  /** P: the history through the last assistant message, without generation prompt. */
  readonly renderedHistory: readonly number[];
  /** T: the whole request, with generation prompt. */
  readonly renderedFull: readonly number[];
  /** e, or null for a stand-in renderer without template (section 12), which has no end token. */
  readonly eos: number | null;
}

export type SpliceOutcome =
  | {
      readonly kind: 'spliced';
      readonly prompt: number[];
      /** How many tokens of the exact prefix stand at the start of `prompt`. */
      readonly kept: number;
      /** Index in `renderedFull` from which the rest of `prompt` was taken. */
      readonly from: number;
    }
  | { readonly kind: 'error'; readonly message: string };

/**
 * Puts what is new in the full rendering behind the exact tokens of the predecessor, so that nothing that was generated is ever tokenized again.
 * Pure. The prompt always begins with the whole of `exactPrefix`.
 */
export function splice({ exactPrefix, renderedHistory, renderedFull, eos }: SpliceInput): SpliceOutcome {
  if (eos === null) return spliceWithoutTemplate(exactPrefix, renderedHistory, renderedFull);
  const ends = renderedHistory.reduce((count, token) => (token === eos ? count + 1 : count), 0);
  if (ends === 0) return { kind: 'error', message: 'the rendered history has no end token to splice at' };
  const from = indexOfNth(renderedFull, eos, ends);
  if (from < 0) return { kind: 'error', message: 'the full rendering has fewer end tokens than the history' };
  const kept = exactPrefix.at(-1) === eos ? exactPrefix.length - 1 : exactPrefix.length;
  return { kind: 'spliced', prompt: join(exactPrefix, kept, renderedFull, from), kept, from };
}

function spliceWithoutTemplate(
  exactPrefix: readonly number[],
  renderedHistory: readonly number[],
  renderedFull: readonly number[],
): SpliceOutcome {
  if (renderedHistory.some((token, at) => renderedFull[at] !== token)) {
    return { kind: 'error', message: 'the full rendering does not begin with the history' };
  }
  const from = renderedHistory.length;
  return {
    kind: 'spliced',
    prompt: join(exactPrefix, exactPrefix.length, renderedFull, from),
    kept: exactPrefix.length,
    from,
  };
}

function join(head: readonly number[], kept: number, tail: readonly number[], from: number): number[] {
  return head.slice(0, kept).concat(tail.slice(from));
}

function indexOfNth(tokens: readonly number[], wanted: number, n: number): number {
  let at = -1;
  for (let seen = 0; seen < n; seen++) {
    at = tokens.indexOf(wanted, at + 1);
    if (at < 0) return -1;
  }
  return at;
}
