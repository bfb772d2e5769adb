import { z } from 'zod';
import type { ChatMessage } from './chat-body.ts';
import { type CallFacts, callMatch, matches } from './match.ts';

/** One answer of the script. Everything that is left out gets the value that an engine would give. */
export const scriptedAnswer = z.strictObject({
  /** Only calls that match get this answer. */
  when: callMatch.optional(),
  /** How many calls get it; null: all that match. Answers: 1, rules: null. */
  times: z.int().min(1).nullable().optional(),
  content: z.string().nullable().optional(),
  reasoning: z.string().nullable().optional(),
  refusal: z.string().nullable().optional(),
  tool_calls: z
    .array(
      z.strictObject({
        id: z.string().nullable().optional(),
        name: z.string(),
        /** Text as it is, JSON or not; an object is written compactly. */
        arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
      }),
    )
    .optional(),
  /** Given: the answer is never cut at `max_tokens`. */
  finish_reason: z.string().nullable().optional(),
  /** Takes the place of the counted usage; null: none. */
  usage: z.record(z.string(), z.unknown()).nullable().optional(),
  /** The exact tokens that are "generated", instead of the text's own. */
  token_ids: z.array(z.int().nonnegative()).min(1).optional(),
  /** Log probability of every generated token. */
  logprob: z.number().max(0).optional(),
  /** Completion id, instead of a made one. */
  id: z.string().optional(),
  /** How long generating takes. */
  delay_ms: z.int().min(0).optional(),
});
export type ScriptedAnswer = z.infer<typeof scriptedAnswer>;

/** `POST /control/script`. Rules are asked first, then the answers in order, then the echo. */
export const scriptUpdate = z.strictObject({
  answers: z.array(scriptedAnswer).default([]),
  rules: z.array(scriptedAnswer).default([]),
  /** False: what was set before stays, the new ones come behind it. */
  replace: z.boolean().default(true),
});
export type ScriptUpdate = z.input<typeof scriptUpdate>;

export interface ModelToolCall {
  /** Null: the engine makes one. */
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string;
}

/** What the model wants to say, before it is cut at a length limit. */
export interface ModelAnswer {
  readonly content: string | null;
  readonly reasoning: string | null;
  readonly refusal: string | null;
  readonly toolCalls: readonly ModelToolCall[];
  /** Undefined: `tool_calls` with calls, else `stop`. */
  readonly finishReason: string | null | undefined;
  readonly usage: Readonly<Record<string, unknown>> | null | undefined;
  readonly tokenIds: readonly number[] | undefined;
  readonly logprob: number | undefined;
  readonly completionId: string | undefined;
  readonly delayMs: number;
}

interface Entry {
  readonly answer: ScriptedAnswer;
  left: number;
}

const ECHOED_CHARS = 200;

/** The model: a script where there is one for the call, else an echo that depends on the conversation alone. */
export class ScriptedModel {
  private answers: Entry[] = [];
  private rules: Entry[] = [];

  /** Sets or extends the script. */
  load(update: ScriptUpdate): void {
    const { answers, rules, replace } = scriptUpdate.parse(update);
    const added = {
      answers: answers.map((answer) => entry(answer, 1)),
      rules: rules.map((answer) => entry(answer, null)),
    };
    this.answers = replace ? added.answers : [...this.answers, ...added.answers];
    this.rules = replace ? added.rules : [...this.rules, ...added.rules];
  }

  /** Answers of the list that no call has taken yet (those for any number of calls count as one). */
  remaining(): number {
    return this.answers.reduce((sum, { left }) => sum + (left === Infinity ? 1 : left), 0);
  }

  answer(facts: CallFacts, messages: readonly ChatMessage[]): ModelAnswer {
    const found = [...this.rules, ...this.answers].find(({ answer }) => matches(answer.when, facts));
    if (found === undefined) return echo(facts, messages);
    found.left -= 1;
    this.rules = this.rules.filter(({ left }) => left > 0);
    this.answers = this.answers.filter(({ left }) => left > 0);
    return spoken(found.answer);
  }
}

function entry(answer: ScriptedAnswer, defaultTimes: number | null): Entry {
  const times = answer.times === undefined ? defaultTimes : answer.times;
  return { answer, left: times ?? Infinity };
}

function spoken(answer: ScriptedAnswer): ModelAnswer {
  const toolCalls = (answer.tool_calls ?? []).map((call) => ({
    id: call.id ?? null,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
  }));
  const hasMore = toolCalls.length > 0 || answer.refusal != null;
  return {
    content: answer.content === undefined ? (hasMore ? null : '') : answer.content,
    reasoning: answer.reasoning ?? null,
    refusal: answer.refusal ?? null,
    toolCalls,
    finishReason: answer.finish_reason,
    usage: answer.usage,
    tokenIds: answer.token_ids,
    logprob: answer.logprob,
    completionId: answer.id,
    delayMs: answer.delay_ms ?? 0,
  };
}

function echo(facts: CallFacts, messages: readonly ChatMessage[]): ModelAnswer {
  const heard = facts.lastText.slice(0, ECHOED_CHARS).toWellFormed();
  return {
    content: `Echo of message ${messages.length}: ${heard}`,
    reasoning: null,
    refusal: null,
    toolCalls: [],
    finishReason: undefined,
    usage: undefined,
    tokenIds: undefined,
    logprob: undefined,
    completionId: undefined,
    delayMs: 0,
  };
}
