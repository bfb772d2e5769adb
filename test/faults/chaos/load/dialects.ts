import { events, type Json, jsonOf, list, object } from './json.ts';

/** What a finished reply says, in the form in which a faithful client echoes it. */
export interface Turn {
  readonly responseId: string;
  /** Elements to append to the history. */
  readonly echo: readonly Json[];
  /** Ids of tool calls that want an output. */
  readonly toolCalls: readonly string[];
}

/** How a client of one dialect writes its history and reads its replies. Written by hand, so that nothing of the proxy's own conversion is trusted. */
export interface ClientDialect {
  readonly name: 'chat' | 'responses' | 'messages';
  readonly path: string;
  user(text: string): Json;
  toolOutputs(ids: readonly string[], text: string): readonly Json[];
  body(system: string | null, history: readonly Json[], stream: boolean): Json;
  /** Null for what is no well-formed reply. */
  read(text: string, stream: boolean): Turn | null;
  /** Code of an error reply or of an error event; null for what is no well-formed error. */
  errorCode(text: string): string | null;
}

const TOOL = { name: 'look', description: 'Looks somewhere.', parameters: { type: 'object', properties: {} } };

const chat: ClientDialect = {
  name: 'chat',
  path: 'chat/completions',
  user: (text) => ({ role: 'user', content: text }),
  toolOutputs: (ids, text) =>
    ids.map((id, at) => ({ role: 'tool', tool_call_id: id, content: at === 0 ? text : `output ${at}` })),
  body: (system, history, stream) => ({
    model: 'policy',
    messages: [...(system === null ? [] : [{ role: 'system', content: system }]), ...history],
    tools: [{ type: 'function', function: TOOL }],
    stream,
  }),
  read(text, stream) {
    const reply = stream ? joinChunks(text) : jsonOf(text);
    const message = object(object(list(reply?.choices)[0])?.message);
    if (typeof reply?.id !== 'string' || message === undefined) return null;
    const calls = list(message.tool_calls).map((call) => String(object(call)?.id));
    return { responseId: reply.id, echo: [message], toolCalls: calls };
  },
  errorCode: openAiError,
};

/** Puts the chunks of a Chat stream together; undefined if it has no end. */
function joinChunks(text: string): Json | undefined {
  const all = events(text);
  if (all.at(-1)?.data !== '[DONE]') return undefined;
  const message: Json = { role: 'assistant', content: null };
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  let id: unknown;
  for (const { data } of all.slice(0, -1)) {
    const chunk = jsonOf(data);
    if (chunk === undefined || chunk.error !== undefined) return undefined;
    id = chunk.id;
    const delta = object(object(list(chunk.choices)[0])?.delta) ?? {};
    for (const name of ['content', 'reasoning']) {
      if (typeof delta[name] === 'string') message[name] = `${message[name] ?? ''}${delta[name]}`;
    }
    for (const part of list(delta.tool_calls).map((call) => object(call) ?? {})) {
      const at = Number(part.index);
      const called = object(part.function) ?? {};
      calls[at] ??= { id: '', type: 'function', function: { name: '', arguments: '' } };
      calls[at].id += part.id ?? '';
      calls[at].function.name += called.name ?? '';
      calls[at].function.arguments += called.arguments ?? '';
    }
  }
  return { id, choices: [{ message: calls.length === 0 ? message : { ...message, tool_calls: calls } }] };
}

const responses: ClientDialect = {
  name: 'responses',
  path: 'responses',
  user: (text) => ({ role: 'user', content: [{ type: 'input_text', text }] }),
  toolOutputs: (ids, text) =>
    ids.map((id, at) => ({ type: 'function_call_output', call_id: id, output: at === 0 ? text : `output ${at}` })),
  body: (system, history, stream) => ({
    model: 'policy',
    ...(system === null ? {} : { instructions: system }),
    input: history,
    tools: [{ type: 'function', ...TOOL, strict: false }],
    stream,
  }),
  read(text, stream) {
    const last = stream ? jsonOf(events(text).at(-1)?.data ?? '') : undefined;
    const reply = stream ? object(last?.response) : jsonOf(text);
    if (stream && last?.type !== 'response.completed') return null;
    if (typeof reply?.id !== 'string' || !Array.isArray(reply.output)) return null;
    const echo = reply.output as Json[];
    const calls = echo.filter((item) => item.type === 'function_call').map((item) => String(item.call_id));
    return { responseId: reply.id, echo, toolCalls: calls };
  },
  errorCode: openAiError,
};

const messages: ClientDialect = {
  name: 'messages',
  path: 'messages',
  user: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
  toolOutputs: (ids, text) => [
    {
      role: 'user',
      content: ids.map((id, at) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: at === 0 ? text : `output ${at}`,
      })),
    },
  ],
  body: (system, history, stream) => ({
    model: 'policy',
    max_tokens: 4096,
    ...(system === null ? {} : { system }),
    messages: history,
    tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters }],
    stream,
  }),
  read(text, stream) {
    const reply = stream ? joinBlocks(text) : jsonOf(text);
    if (typeof reply?.id !== 'string' || !Array.isArray(reply.content)) return null;
    const content = reply.content as Json[];
    const calls = content.filter((block) => block.type === 'tool_use').map((block) => String(block.id));
    return { responseId: reply.id, echo: [{ role: 'assistant', content }], toolCalls: calls };
  },
  errorCode(text) {
    const body = jsonOf(text) ?? jsonOf(events(text).at(-1)?.data ?? '');
    const message = object(body?.error)?.message;
    if (body?.type !== 'error' || typeof message !== 'string') return null;
    // The envelope has no field for a code: the message begins with it.
    return /^([a-z_]+): /.exec(message)?.[1] ?? 'context_length_exceeded';
  },
};

/** Puts the events of a Messages stream together; undefined if it has no end. */
function joinBlocks(text: string): Json | undefined {
  const all = events(text).map(({ data }) => jsonOf(data) ?? {});
  if (all.at(-1)?.type !== 'message_stop') return undefined;
  const content: Json[] = [];
  for (const event of all) {
    const at = Number(event.index);
    const delta = object(event.delta) ?? {};
    const block = content[at];
    if (event.type === 'content_block_start') content[at] = { ...object(event.content_block) };
    else if (event.type !== 'content_block_delta' || block === undefined) continue;
    else if (delta.type === 'input_json_delta') block.json = `${block.json ?? ''}${delta.partial_json}`;
    else {
      for (const name of ['text', 'thinking', 'signature']) {
        if (typeof delta[name] === 'string') block[name] = `${block[name] ?? ''}${delta[name]}`;
      }
    }
  }
  const whole = content.map(({ json, ...block }) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(json === undefined ? '{}' : String(json)) } : block,
  );
  return { id: object(all[0]?.message)?.id, content: whole };
}

/** The OpenAI envelope, as a body or inside an event. */
function openAiError(text: string): string | null {
  const body = jsonOf(text) ?? jsonOf(events(text).at(-1)?.data ?? '') ?? jsonOf(events(text).at(-2)?.data ?? '');
  const response = object(body?.response);
  const error = object(response?.error) ?? object(body?.error) ?? (body?.type === 'error' ? body : undefined);
  return typeof error?.code === 'string' && typeof error.message === 'string' ? error.code : null;
}

export const DIALECTS = [chat, responses, messages] as const;
