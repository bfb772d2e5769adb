import assert from 'node:assert/strict';
import { type Reply, send } from '../../support/stack.ts';
import { type Dialect, readReply, type Served } from './served.ts';

/** One entry of an agent's history, in no dialect. */
export type Turn =
  | { readonly by: 'user'; readonly text: string }
  | { readonly by: 'tool'; readonly callId: string; readonly text: string }
  | { readonly by: 'model'; readonly served: Served };

export interface Manner {
  readonly dialect: Dialect;
  readonly stream?: boolean;
}

const TOOL = {
  name: 'bash',
  description: 'runs a command',
  schema: { type: 'object', properties: { command: { type: 'string' } } },
};
const PATHS = { chat: 'chat/completions', responses: 'responses', messages: 'messages' } as const;

/** `path` of a dialect under the prefix that captures. */
export function capturePath(attempt: string, dialect: Dialect): string {
  return `/ng-rollout/${attempt}/training-token-capture/v1/${PATHS[dialect]}`;
}

/** An agent with one tool that only ever appends to its history, in whatever dialect it is told to speak next. */
export class Agent {
  readonly url: string;
  readonly attempt: string;
  history: Turn[] = [];
  readonly instructions: string | null;

  constructor(url: string, attempt: string, instructions: string | null = null) {
    this.url = url;
    this.attempt = attempt;
    this.instructions = instructions;
  }

  says(text: string): this {
    this.history.push({ by: 'user', text });
    return this;
  }

  /** Another agent with the same history so far. */
  fork(): Agent {
    const other = new Agent(this.url, this.attempt, this.instructions);
    other.history = [...this.history];
    return other;
  }

  /** Asks, expects an answer, and runs the tools that it calls. */
  async turn(manner: Manner): Promise<Served> {
    const served = await this.answer(manner);
    this.accept(served);
    return served;
  }

  /** Asks and expects an answer; the history stays as it is. */
  async answer(manner: Manner): Promise<Served> {
    const reply = await this.ask(manner);
    assert.equal(reply.status, 200, reply.text);
    return readReply(manner.dialect, manner.stream === true, reply.text);
  }

  ask({ dialect, stream = false }: Manner, headers: Record<string, string> = {}): Promise<Reply> {
    return send('POST', this.url + capturePath(this.attempt, dialect), this.body(dialect, stream), headers);
  }

  body(dialect: Dialect, stream: boolean): object {
    return { model: 'policy', stream, ...BODIES[dialect](this.history, this.instructions) };
  }

  accept(served: Served): void {
    this.history.push({ by: 'model', served });
    for (const { id, arguments: text } of served.said.calls)
      this.history.push({ by: 'tool', callId: id, text: `output of ${text}` });
  }
}

const BODIES: Readonly<Record<Dialect, (history: readonly Turn[], instructions: string | null) => object>> = {
  chat: (history, instructions) => ({
    messages: [
      ...(instructions === null ? [] : [{ role: 'system', content: instructions }]),
      ...history.map((turn) => {
        if (turn.by === 'user') return { role: 'user', content: turn.text };
        if (turn.by === 'tool') return { role: 'tool', tool_call_id: turn.callId, content: turn.text };
        return turn.served.dialect === 'chat'
          ? withoutNulls(turn.served.payload.choices[0].message)
          : chatTurn(turn.served);
      }),
    ],
    tools: [
      { type: 'function', function: { name: TOOL.name, description: TOOL.description, parameters: TOOL.schema } },
    ],
  }),
  responses: (history, instructions) => ({
    ...(instructions === null ? {} : { instructions }),
    input: history.flatMap((turn): object[] => {
      if (turn.by === 'user') return [{ role: 'user', content: turn.text }];
      if (turn.by === 'tool') return [{ type: 'function_call_output', call_id: turn.callId, output: turn.text }];
      return turn.served.dialect === 'responses' ? turn.served.payload.output : responsesItems(turn.served);
    }),
    tools: [
      { type: 'function', name: TOOL.name, description: TOOL.description, parameters: TOOL.schema, strict: null },
    ],
  }),
  messages: (history, instructions) => ({
    max_tokens: 1000,
    ...(instructions === null ? {} : { system: instructions }),
    messages: history.map((turn) => {
      if (turn.by === 'user') return { role: 'user', content: turn.text };
      if (turn.by === 'tool')
        return { role: 'user', content: [{ type: 'tool_result', tool_use_id: turn.callId, content: turn.text }] };
      const { dialect, payload } = turn.served;
      return { role: 'assistant', content: dialect === 'messages' ? payload.content : messagesBlocks(turn.served) };
    }),
    tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.schema }],
  }),
};

/** A turn that was served in another dialect, as Chat has it; the other two accordingly. */
function chatTurn({ said }: Served): object {
  const calls = said.calls.map(({ id, ...call }) => ({ id, type: 'function', function: call }));
  return {
    role: 'assistant',
    content: said.text,
    ...(said.reasoning === null ? {} : { reasoning: said.reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function responsesItems({ said }: Served): object[] {
  const items: object[] = [];
  if (said.reasoning !== null)
    items.push({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: said.reasoning }] });
  if (said.text !== null)
    items.push({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: said.text, annotations: [] }],
    });
  for (const { id, ...call } of said.calls) items.push({ type: 'function_call', call_id: id, ...call });
  return items;
}

function messagesBlocks({ said }: Served): object[] {
  const blocks: object[] = [];
  if (said.reasoning !== null) blocks.push({ type: 'thinking', thinking: said.reasoning, signature: '' });
  if (said.text !== null) blocks.push({ type: 'text', text: said.text });
  for (const { id, name, arguments: text } of said.calls)
    blocks.push({ type: 'tool_use', id, name, input: JSON.parse(text) });
  return blocks;
}

function withoutNulls(message: object): object {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null));
}
