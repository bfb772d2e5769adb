import assert from 'node:assert/strict';
import type { StackOptions } from '../../support/stack.ts';
import type { Expectation, RootExpectation, ScriptedCall } from '../harness/expectation.ts';
import { interrupt, type Moment } from '../harness/interrupt.ts';
import { runScenario, type World } from '../harness/scenario.ts';
import type { Conversation } from './conversation.ts';
import {
  BROKEN_TEXT,
  brokenArgumentsCalls,
  editedCalls,
  FORK_ANSWER,
  FORK_PROMPT,
  LAST_ANSWER,
  lostConnectionCalls,
  OUTPUTS_CLEARED,
  PROMPTS,
  pictureCalls,
  refusalCalls,
  requiredToolCalls,
  sampleCalls,
  summaryCalls,
  type TaskOptions,
  taskCalls,
} from './task.ts';

export interface Settings {
  /** Default: the SDK's own. */
  readonly maxRetries?: number;
  /** The SDK's own means of editing the history keeps only the newest tool output. */
  readonly edits?: true;
  /** There is a tool that answers with a picture. */
  readonly photo?: true;
  /** The model must call a tool first. */
  readonly mustCall?: true;
}

/** One SDK in one dialect. */
export interface Variant {
  readonly agent: string;
  readonly dialect: string;
  /** Looked up when the packages are installed. */
  version(): string;
  /** A new conversation. */
  start(world: World, settings: Settings): Conversation;
  /** The client never sends reasoning back: `lineage.reasoning: optional`, but for the run that shows what happens without. */
  readonly neverEchoesReasoning?: boolean;
}

/** How a summary leaves the history that it is made of, and how the first call after it does. */
export interface SummaryRoots {
  readonly summary: RootExpectation;
  readonly after: RootExpectation;
}

/** Enough to outlive a slow machine; the SDKs' own defaults are two. */
const PATIENT_RETRIES = 8;
const PATIENCE_MS = 90_000;

interface Run {
  readonly run: string;
  readonly calls: readonly ScriptedCall[];
  readonly note?: string;
  readonly refused?: number;
  readonly resends?: number;
  readonly stack?: StackOptions;
  drive(world: World): Promise<void>;
}

async function scenario(variant: Variant, run: Run): Promise<void> {
  const optional = variant.neverEchoesReasoning === true && run.stack === undefined;
  const notes = [optional ? '`lineage.reasoning: optional`, since it never sends reasoning back.' : '', run.note ?? ''];
  const note = notes.filter((text) => text !== '').join(' ');
  await runScenario({
    agent: variant.agent,
    version: variant.version(),
    dialect: variant.dialect,
    ...(optional ? { stack: { config: { 'lineage.reasoning': 'optional' } } } : {}),
    ...run,
    ...(note === '' ? {} : { note }),
  });
}

/** The task of eight calls. */
export function runTask(variant: Variant, options: TaskOptions = {}): Promise<void> {
  return scenario(variant, {
    run: 'task',
    calls: taskCalls(options),
    drive: async (world) => {
      const conversation = variant.start(world, {});
      await conversation.ask(PROMPTS[0]);
      assert.equal(await conversation.ask(PROMPTS[1]), LAST_ANSWER);
    },
  });
}

/** The same with `lineage.reasoning: required`, for clients that drop it: each turn that reasoned is rewritten. */
export function runTaskReasoningRequired(variant: Variant, options: TaskOptions = {}): Promise<void> {
  const dropsReasoning = 'It sends no reasoning back: set `lineage.reasoning: optional`.';
  return scenario(variant, {
    run: 'task, reasoning required',
    calls: taskCalls({ ...options, dropsReasoning }),
    stack: { config: { 'lineage.reasoning': 'required' } },
    drive: async (world) => {
      const conversation = variant.start(world, {});
      await conversation.ask(PROMPTS[0]);
      assert.equal(await conversation.ask(PROMPTS[1]), LAST_ANSWER);
    },
  });
}

/** A summary takes the place of the history; the old history is gone on with as well. */
export function runSummary(variant: Variant, roots: SummaryRoots): Promise<void> {
  return scenario(variant, {
    run: 'summary and fork',
    calls: summaryCalls(roots),
    drive: async (world) => {
      const conversation = variant.start(world, {});
      await conversation.ask(PROMPTS[0]);
      const before = await conversation.fork();
      await conversation.summarize();
      assert.equal(await conversation.ask(PROMPTS[1]), LAST_ANSWER);
      assert.equal(await before.ask(FORK_PROMPT), FORK_ANSWER);
    },
  });
}

/** The SDK edits the history between the calls of one run. */
export function runEdits(variant: Variant, roots: Parameters<typeof editedCalls>[0] = OUTPUTS_CLEARED): Promise<void> {
  return scenario(variant, {
    run: 'history edits',
    calls: editedCalls(roots),
    drive: async (world) => {
      assert.equal(await variant.start(world, { edits: true }).ask(PROMPTS[0]), LAST_ANSWER);
    },
  });
}

/** Arguments that are no JSON. `stops`: the agent takes the turn for its last one, and what follows is the next prompt. */
export function runBrokenArguments(
  variant: Variant,
  after: Expectation,
  { stops = false }: { readonly stops?: boolean } = {},
): Promise<void> {
  return scenario(variant, {
    run: 'broken arguments',
    calls: brokenArgumentsCalls(after),
    ...(stops ? { note: 'The agent stops at the turn.' } : {}),
    drive: async (world) => {
      const conversation = variant.start(world, {});
      const answer = await conversation.ask(PROMPTS[0]);
      assert.equal(answer, stops ? BROKEN_TEXT : LAST_ANSWER);
      if (stops) assert.equal(await conversation.ask(PROMPTS[1]), LAST_ANSWER);
    },
  });
}

/** The worker refuses a call for its length: the SDK's error says so, the history is summarized, and the rollout stays complete. */
export function runContextRefusal(
  variant: Variant,
  roots: SummaryRoots,
  isRefusal: (error: unknown) => void,
): Promise<void> {
  return scenario(variant, {
    run: 'context refusal',
    calls: refusalCalls(roots),
    refused: 1,
    drive: async (world) => {
      const conversation = variant.start(world, {});
      await conversation.ask(PROMPTS[0]);
      world.stack.worker.arm({ kind: 'length_refusal', match: { attempt_index: 1 } });
      await assert.rejects(conversation.ask(PROMPTS[1]), (error) => {
        isRefusal(error);
        return true;
      });
      await conversation.summarize();
      assert.equal(await conversation.ask(PROMPTS[1]), LAST_ANSWER);
    },
  });
}

/** The connection breaks while the worker is busy, or the reply is finished before the client comes back: its retry gets the one reply. */
export function runLostConnection(variant: Variant, moment: Exclude<Moment, 'streaming'>): Promise<void> {
  return scenario(variant, {
    run: `connection lost, call ${moment}`,
    calls: lostConnectionCalls(),
    resends: 1,
    drive: async (world) => {
      world.stack.worker.arm({ kind: 'hold', match: { turn: 1 } });
      const conversation = variant.start(world, { maxRetries: PATIENT_RETRIES });
      const [answer] = await Promise.all([conversation.ask(PROMPTS[0]), interrupt(world, moment)]);
      assert.equal(answer, LAST_ANSWER);
    },
  });
}

/** A tool answers with a picture. */
export function runPicture(variant: Variant, after: Expectation = { parent: 'p1' }): Promise<void> {
  return scenario(variant, {
    run: 'picture from a tool',
    calls: pictureCalls(after),
    drive: async (world) => {
      const conversation = variant.start(world, { photo: true });
      await conversation.ask(PROMPTS[0]);
      assert.equal(await conversation.ask(PROMPTS[1]), LAST_ANSWER);
    },
  });
}

/** The tool choice `required`. */
export function runRequiredTool(variant: Variant, rewrite: string): Promise<void> {
  return scenario(variant, {
    run: 'required tool',
    calls: requiredToolCalls(rewrite),
    drive: async (world) => {
      assert.equal(await variant.start(world, { mustCall: true }).ask(PROMPTS[0]), LAST_ANSWER);
    },
  });
}

/** The same prompt twice at a time: neither is taken for a re-send of the other, and each goes on by itself. */
export function runTwoSamples(variant: Variant): Promise<void> {
  return scenario(variant, {
    run: 'two samples',
    calls: sampleCalls(),
    drive: async (world) => {
      const { worker } = world.stack;
      worker.arm({ kind: 'hold', times: 2, match: { turn: 0 } });
      const answers = [1, 2].map(() => variant.start(world, {}).ask(PROMPTS[0]));
      await worker.whenHeld(2, AbortSignal.timeout(PATIENCE_MS));
      worker.release();
      assert.deepEqual(await Promise.all(answers), [LAST_ANSWER, LAST_ANSWER]);
    },
  });
}
