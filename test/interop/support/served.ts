import assert from 'node:assert/strict';

export type Dialect = 'chat' | 'responses' | 'messages';
export const DIALECTS = ['chat', 'responses', 'messages'] as const;

/** What a reply said, in no dialect. */
export interface Said {
  readonly reasoning: string | null;
  readonly text: string | null;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

// biome-ignore lint/suspicious/noExplicitAny: replies of three dialects
type Json = any;

/** A served reply: the object that a JSON reply is, or that a client puts together from the stream. */
export interface Served {
  readonly dialect: Dialect;
  readonly id: string;
  readonly payload: Json;
  readonly said: Said;
}

/** Reads the text of a reply, JSON or events. */
export function readReply(dialect: Dialect, stream: boolean, text: string): Served {
  const payload = stream ? ASSEMBLERS[dialect](events(text)) : JSON.parse(text);
  return { dialect, id: payload.id, payload, said: READERS[dialect](payload) };
}

function events(text: string): Json[] {
  return text
    .split('\n\n')
    .flatMap((frame) => frame.split('\n').filter((line) => line.startsWith('data: ')))
    .filter((line) => line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(6)));
}

const ASSEMBLERS: Readonly<Record<Dialect, (list: readonly Json[]) => Json>> = {
  responses(list) {
    const last = list.at(-1);
    assert.equal(last?.type, 'response.completed');
    return last.response;
  },
  chat(list) {
    const message: Json = { role: 'assistant', content: null };
    let finish = null;
    for (const { choices } of list) {
      for (const { delta, finish_reason } of choices) {
        finish = finish_reason ?? finish;
        for (const key of ['content', 'reasoning', 'reasoning_content', 'refusal'])
          if (typeof delta[key] === 'string') message[key] = (message[key] ?? '') + delta[key];
        for (const { index, ...call } of delta.tool_calls ?? []) {
          message.tool_calls ??= [];
          const known = message.tool_calls[index];
          if (known === undefined) message.tool_calls[index] = call;
          else known.function.arguments += call.function.arguments;
        }
      }
    }
    return { id: list[0]?.id, object: 'chat.completion', choices: [{ index: 0, finish_reason: finish, message }] };
  },
  messages(list) {
    const start = list.find(({ type }) => type === 'message_start').message;
    const content: Json[] = [];
    const inputs: string[] = [];
    for (const event of list) {
      if (event.type === 'content_block_start') {
        content[event.index] = event.content_block;
        inputs[event.index] = '';
      }
      if (event.type !== 'content_block_delta') continue;
      const block = content[event.index];
      const { text, thinking, signature, partial_json } = event.delta;
      if (text !== undefined) block.text += text;
      if (thinking !== undefined) block.thinking += thinking;
      if (signature !== undefined) block.signature = signature;
      if (partial_json !== undefined) inputs[event.index] += partial_json;
    }
    content.forEach((block, at) => {
      if (block.type === 'tool_use') block.input = JSON.parse(inputs[at] || '{}');
    });
    assert.equal(list.at(-1).type, 'message_stop');
    return { ...start, content };
  },
};

const orNull = (texts: readonly string[]) => (texts.length === 0 ? null : texts.join(''));

const READERS: Readonly<Record<Dialect, (payload: Json) => Said>> = {
  chat(payload) {
    const { content, reasoning, reasoning_content, tool_calls } = payload.choices[0].message;
    return {
      reasoning: reasoning ?? reasoning_content ?? null,
      text: content ?? null,
      calls: (tool_calls ?? []).map((call: Json) => ({ id: call.id, ...call.function })),
    };
  },
  responses({ output }) {
    const of = (type: string): Json[] => output.filter((item: Json) => item.type === type);
    const texts = (type: string, part: string) =>
      of(type).flatMap((item) =>
        (item.content ?? []).filter((one: Json) => one.type === part).map((one: Json) => one.text),
      );
    return {
      reasoning: orNull(texts('reasoning', 'reasoning_text')),
      text: orNull(texts('message', 'output_text')),
      calls: of('function_call').map((item) => ({ id: item.call_id, name: item.name, arguments: item.arguments })),
    };
  },
  messages({ content }) {
    const of = (type: string): Json[] => content.filter((block: Json) => block.type === type);
    return {
      reasoning: orNull(of('thinking').map(({ thinking }) => thinking)),
      text: orNull(of('text').map(({ text }) => text)),
      calls: of('tool_use').map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
    };
  },
};
