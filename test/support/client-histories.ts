import type { Dialect } from '../../src/protocol/conversation.ts';

/*
 * Conversations as clients keep them, and as they write them down again for each request. What clients may do to a conversation on the way (clients.md 2.5) is
 * drawn at random each time; all of it is the same conversation.
 */

/** What stands in a conversation. */
export type Entry =
  | { readonly by: 'user'; readonly parts: readonly Part[] }
  /** A served reply, the body's JSON text, to be echoed in some style. */
  | { readonly by: 'model'; readonly reply: string }
  /** The same, as the client remembers it: to be written as it stands here. */
  | { readonly by: 'memory'; readonly said: Remembered }
  | { readonly by: 'tools'; readonly outputs: readonly Output[] };

export type Part = { readonly text: string } | { readonly image: string };

export interface Remembered {
  readonly reasoning: string | null;
  readonly text: string | null;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

export interface Output {
  readonly id: string;
  readonly name: string;
  readonly parts: readonly Part[];
}

export interface History {
  readonly system: string | null;
  readonly tools: readonly ToolDefinition[];
  readonly entries: readonly Entry[];
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A source of numbers in [0, 1), the same for the same seed. */
export type Random = () => number;

/** The generator mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const below = (random: Random, count: number): number => Math.floor(random() * count);

export function pick<T>(random: Random, list: readonly T[]): T {
  const found = list[below(random, list.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}

export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((element) => ({ element, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ element }) => element);
}

/** The turn of a served reply, in no dialect. */
export function remembered(dialect: Dialect, reply: string): Remembered {
  const body = JSON.parse(reply);
  switch (dialect) {
    case 'chat': {
      const { message } = body.choices[0];
      const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
      return {
        reasoning: message.reasoning ?? null,
        text: message.content ?? null,
        calls: calls.map((call) => ({ id: call.id, ...call.function })),
      };
    }
    case 'responses': {
      const items = body.output as ResponsesItem[];
      const texts = items.flatMap((item) => (item.type === 'message' ? (item.content ?? []) : []));
      const reasoning = items.find((item) => item.type === 'reasoning');
      return {
        reasoning: reasoning?.content?.[0]?.text ?? null,
        text: texts.length === 0 ? null : texts.map(({ text }) => text).join(''),
        calls: items
          .filter((item) => item.type === 'function_call')
          .map(({ call_id, name, arguments: args }) => ({ id: call_id, name, arguments: args })),
      };
    }
    case 'messages': {
      const blocks = body.content as MessagesBlock[];
      const texts = blocks.filter(({ type }) => type === 'text');
      return {
        reasoning: blocks.find(({ type }) => type === 'thinking')?.thinking ?? null,
        text: texts.length === 0 ? null : texts.map(({ text }) => text).join(''),
        calls: blocks
          .filter(({ type }) => type === 'tool_use')
          .map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
      };
    }
    default: {
      const never: never = dialect;
      return never;
    }
  }
}

interface ResponsesItem {
  readonly type: string;
  readonly content?: readonly { readonly text: string }[];
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

interface MessagesBlock {
  readonly type: string;
  readonly text: string;
  readonly thinking: string;
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}
