import { createHash } from 'node:crypto';

/**
 * A conversation as the engine sees it, reduced to one short hash per prefix, so that "this call extends that one" can be checked without trusting the proxy's
 * own evidence: two conversations are equal up to a message if and only if their hashes there are.
 */
export const START = '';

/** The hash of a conversation with one more message. 16 hex digits. */
export function extend(hash: string, message: string): string {
  return createHash('sha256').update(hash).update('\n').update(message).digest('hex').slice(0, 16);
}

type Message = Readonly<Record<string, unknown>>;

/** What of a message the engine reads: role, text, reasoning, tool calls by id, name and arguments, the call that it answers. */
export function canonicalMessage(message: Message): string {
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as Message[]) : [];
  return JSON.stringify([
    message.role,
    textOf(message.content),
    textOf(message.reasoning),
    calls.map((call) => {
      const { name, arguments: given } = call.function as { name: string; arguments: string };
      return [call.id, name, JSON.parse(given) as unknown];
    }),
    message.tool_call_id ?? null,
  ]);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: Message) => String(part.text ?? '')).join('') : '';
}

/** Marks in user and tool texts say which incarnation of which attempt a text was written for: `{attempt/generation/number}`. */
export function mark(attempt: string, generation: number, number: number): string {
  return `{${attempt}/${generation}/${number}}`;
}

/** `attempt/generation/number` of every mark in what users and tools said, each once. */
export function tagsOf(messages: readonly Message[]): string[] {
  const texts = messages.filter(({ role }) => role === 'user' || role === 'tool').map(({ content }) => textOf(content));
  return [...new Set(texts.flatMap(marksIn))];
}

export function marksIn(text: string): string[] {
  return [...text.matchAll(/\{([\w.-]+\/\d+\/\d+)\}/g)].map((found) => found[1] as string);
}
