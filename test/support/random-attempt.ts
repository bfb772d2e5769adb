import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Dialect } from '../../src/protocol/conversation.ts';
import type { ScriptedAnswer } from '../../src/reference-worker/model.ts';
import { anyArguments, anyCalls, anyText } from './answers.ts';
import { type Entry, type History, type Output, pick, type Random, remembered, shuffled } from './client-histories.ts';
import { PATHS, requestBody, type Writing } from './client-writers.ts';
import type { Reply, Stack } from './stack.ts';

/** A call that was answered, and what a client keeps of it. */
export interface Answered {
  readonly responseId: string;
  readonly dialect: Dialect;
  /** What was asked, and the reply as the last entry. */
  readonly history: History;
}

export const TOOLS: History['tools'] = ['f', 'Bash', 'mcp__server__tool'].map((name) => ({
  name,
  description: `Does what ${name} does.`,
  parameters: { type: 'object', properties: { a: { type: 'number' } }, required: [] },
}));

/** What no double holds does not survive a client that parses (clients.md 5). */
export const survives = (text: string) => !/[eE]\+?\d{3,}/.test(text);

/** Random answers of a model, the same for the same seed and none like another: a mark stands in the text, the reasoning and the id of the first call. */
export function someAnswers(count: number, seed: number): ScriptedAnswer[] {
  return fc.sample(anyAnswers(count), { seed, numRuns: 1 })[0] ?? [];
}

function anyAnswers(count: number): fc.Arbitrary<ScriptedAnswer[]> {
  const answer = fc
    .record({
      content: fc.option(anyText),
      reasoning: fc.option(anyText.filter((text) => text.trim() !== '')),
      calls: anyCalls(anyArguments.filter(survives)),
      delay_ms: fc.constantFrom(0, 0, 5, 20),
    })
    .filter(({ content, calls }) => (content ?? '').trim() !== '' || calls.length > 0);
  return fc.array(answer, { minLength: count, maxLength: count }).map((answers) =>
    answers.map(({ content, reasoning, calls, delay_ms }, at) => ({
      content: content === null || content === '' ? content : `${content} ${at}`,
      reasoning: reasoning === null ? null : `${reasoning} ${at}`,
      tool_calls: calls.map((call, index) => (index === 0 ? { ...call, id: `${call.id}-${at}` } : call)),
      delay_ms,
    })),
  );
}

/** What follows a reply: outputs of all its calls, in any order, and what the user says. */
export function continuation(random: Random, reply: string, dialect: Dialect, mark: string, images: boolean): Entry[] {
  const { calls } = remembered(dialect, reply);
  const outputs = calls.map(({ id, name }, at): Output => ({ id, name, parts: [{ text: `output ${at} of ${mark}` }] }));
  const user: Entry = {
    by: 'user',
    parts: [
      { text: `go on, ${mark}` },
      ...(images && random() < 0.5 ? [{ image: `data:image/png;base64,${Buffer.from(mark).toString('base64')}` }] : []),
    ],
  };
  if (calls.length === 0) return random() < 0.2 ? [user, { by: 'user', parts: [{ text: `and ${mark}` }] }] : [user];
  return [{ by: 'tools', outputs: shuffled(random, outputs) }, ...(random() < 0.3 ? [user] : [])];
}

/** A conversation that nothing came before. */
export function opening(random: Random, mark: string): History {
  return {
    system: random() < 0.7 ? `You are ${mark}.` : null,
    tools: TOOLS,
    entries: [{ by: 'user', parts: [{ text: `Do ${mark}.` }] }],
  };
}

/** The conversation after a reply. */
export function appended({ dialect, history }: Answered, random: Random, mark: string, plain: boolean): History {
  const last = history.entries.at(-1);
  assert.ok(last?.by === 'model');
  return { ...history, entries: [...history.entries, ...continuation(random, last.reply, dialect, mark, !plain)] };
}

/** Sends a conversation, written as some client would. */
export function send(
  stack: Stack,
  attempt: string,
  dialect: Dialect,
  history: History,
  writing: Writing,
): Promise<Reply> {
  return stack.post(`/ng-rollout/${attempt}/v1/${PATHS[dialect]}`, requestBody(dialect, history, writing));
}

/** The same, for a call that must be answered. */
export async function ask(
  stack: Stack,
  attempt: string,
  dialect: Dialect,
  history: History,
  writing: Writing,
): Promise<Answered> {
  const reply = await send(stack, attempt, dialect, history, writing);
  assert.equal(reply.status, 200, reply.text);
  return {
    responseId: reply.json.id,
    dialect,
    history: { ...history, entries: [...history.entries, { by: 'model', reply: reply.text }] },
  };
}

export const anyDialect = (random: Random): Dialect => pick(random, ['chat', 'responses', 'messages']);
