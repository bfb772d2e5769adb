/**
 * Episodes without any agent framework, proxy or worker: a toy policy guesses a number, token by token, in this process, and tells the kit what it was
 * shown and what it generated. The kit checks and groups these rollouts like any others.
 *
 *     node examples/direct-episode.ts
 */
import { explainRollout } from '../src/trainer/explain/explain-rollout.ts';
import {
  type AssembledGroup,
  assembleGroup,
  buildRollout,
  DEFAULT_GROUP_OPTIONS,
  DirectCapture,
  paddingRows,
  parseHarnessResult,
  type RolloutOutcome,
  returnedHistory,
  type TrainingRow,
} from '../src/trainer/index.ts';

/** Vocabulary of the game. Numbers stand for themselves, from 100 on. */
const ASK = 1;
const HIGHER = 2;
const LOWER = 3;
const FIRST_NUMBER = 100;

/** Plays one episode: guess until the secret is found or the turns are used up. `choose` is the policy: it gets the bounds. */
export async function playEpisode(
  attempt: string,
  secret: number,
  choose: (low: number, high: number) => number,
  maxTurns = 5,
): Promise<RolloutOutcome> {
  const capture = new DirectCapture(attempt);
  const output: unknown[] = [];
  let [low, high] = [0, 15];
  let parent: ReturnType<DirectCapture['call']> | null = null;
  let shown = [ASK];
  let found = false;
  for (let turn = 0; turn < maxTurns && !found; turn++) {
    const guess = choose(low, high);
    const item = { type: 'message', role: 'assistant', id: `${attempt}_${turn}`, content: String(guess) };
    parent = capture.call({
      parent,
      newPromptTokens: shown,
      generatedTokens: [FIRST_NUMBER + guess],
      logprobs: [-Math.log(high - low + 1)],
      weightVersion: 1,
      output: [item],
    });
    output.push(item);
    found = guess === secret;
    shown = [guess < secret ? HIGHER : LOWER];
    if (guess < secret) low = guess + 1;
    else high = guess - 1;
  }
  return buildRollout({
    attempt,
    ledger: { ok: true, value: capture.ledger() },
    result: parseHarnessResult(JSON.stringify({ response: { id: attempt, output }, reward: found ? 1 : 0 })),
    policy: returnedHistory,
    staged: capture.staged,
  });
}

export interface PlayedGroup {
  readonly outcomes: readonly RolloutOutcome[];
  readonly group: AssembledGroup;
  readonly rows: readonly TrainingRow[];
}

/** A prompt group: the same secret, two policies, two episodes each; rows padded for four ranks. */
export async function playGroup(secret: number): Promise<PlayedGroup> {
  const bisect = (low: number, high: number) => Math.floor((low + high) / 2);
  const countUp = (low: number) => low;
  const outcomes: RolloutOutcome[] = [];
  for (const [slot, choose] of [bisect, countUp, bisect, countUp].entries()) {
    outcomes.push(await playEpisode(`guess_g${slot}`, secret, choose));
  }
  const group = assembleGroup('guess', outcomes, DEFAULT_GROUP_OPTIONS);
  return { outcomes, group, rows: [...group.rows, ...paddingRows('guess', group.rows.length, 4)] };
}

if (import.meta.main) {
  const { outcomes, rows } = await playGroup(9);
  for (const outcome of outcomes) process.stdout.write(`${explainRollout(outcome).join('\n')}\n\n`);
  for (const row of rows) process.stdout.write(`${row.row_id} reward ${row.reward} advantage ${row.advantage}\n`);
}
