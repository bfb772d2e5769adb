import type { Dialect } from '../../src/protocol/conversation.ts';
import {
  type Entry,
  type History,
  type Output,
  type Part,
  pick,
  type Random,
  type Remembered,
  remembered,
} from './client-histories.ts';
import { CHAT_ECHO_STYLES, CHAT_EMPTY_STYLES, CHAT_LIST_STYLES } from './client-styles-chat.ts';
import { ECHO_STYLES as MESSAGES_STYLES } from './messages-echoes.ts';
import { ECHO_STYLES as RESPONSES_STYLES } from './responses-echo.ts';

/** How a client writes. */
export interface Writing {
  readonly random: Random;
  /** Every content is a string or null, so that null and "" beside calls may stand for one another. */
  readonly plain: boolean;
  /** Some turns come back without their reasoning (`lineage.reasoning: optional`). */
  readonly forgetsReasoning?: boolean;
}

export const PATHS = { chat: 'chat/completions', responses: 'responses', messages: 'messages' } as const;

const str = (value: unknown): string => JSON.stringify(value);
/** How often a client writes a turn anew from what it means. */
const REBUILT = 0.1;
const CACHED = { cache_control: { type: 'ephemeral' } };

/** The body of a request as some client writes it: JSON text. */
export function requestBody(dialect: Dialect, history: History, writing: Writing): string {
  const members: string[] = ['"model":"policy"'];
  const elements = [...written(dialect, history.entries, writing)];
  switch (dialect) {
    case 'chat':
      if (history.system !== null) elements.unshift(chatSystem(history.system, writing));
      members.push(`"messages":[${elements}]`);
      break;
    case 'responses':
      members.push('"include":["reasoning.encrypted_content"]', '"store":false');
      if (history.system !== null) {
        if (writing.random() < 0.5) members.push(`"instructions":${str(history.system)}`);
        else elements.unshift(str({ role: pick(writing.random, ['developer', 'system']), content: history.system }));
      }
      members.push(`"input":[${elements}]`);
      break;
    case 'messages': {
      members.push('"max_tokens":4096');
      const blocks = [{ type: 'text', text: history.system, ...(writing.random() < 0.5 ? CACHED : {}) }];
      if (history.system !== null) members.push(`"system":${str(writing.random() < 0.5 ? history.system : blocks)}`);
      members.push(`"messages":[${elements}]`);
      break;
    }
    default: {
      const never: never = dialect;
      return never;
    }
  }
  if (history.tools.length > 0) members.push(`"tools":${str(toolList(dialect, history, writing))}`);
  return `{${shuffledMembers(members, writing.random)}}`;
}

function* written(dialect: Dialect, entries: readonly Entry[], writing: Writing): Generator<string> {
  for (const entry of entries) {
    switch (entry.by) {
      case 'user':
        yield userMessage(dialect, entry.parts, writing);
        break;
      case 'model':
        if (writing.forgetsReasoning === true && writing.random() < 0.5)
          yield* fromMemory(dialect, { ...remembered(dialect, entry.reply), reasoning: null });
        else if (writing.random() < REBUILT) yield* fromMemory(dialect, remembered(dialect, entry.reply));
        else yield* echoed(dialect, entry.reply, writing);
        break;
      case 'memory':
        yield* fromMemory(dialect, entry.said);
        break;
      case 'tools':
        yield* toolOutputs(dialect, entry.outputs, writing);
        break;
      default: {
        const never: never = entry;
        return never;
      }
    }
  }
}

function chatSystem(system: string, { random, plain }: Writing): string {
  const content = plain || random() < 0.5 ? system : [{ type: 'text', text: system }];
  return str({ role: pick(random, ['system', 'developer']), content });
}

function userMessage(dialect: Dialect, parts: readonly Part[], writing: Writing): string {
  const message = { role: 'user', content: content(dialect, parts, writing) };
  if (dialect !== 'responses') return str(message);
  return str(
    pick(writing.random, [
      message,
      { type: 'message', ...message },
      { id: 'msg_mine', status: 'completed', ...message },
    ]),
  );
}

/** A string where it is one text, at random also the list of the one part. */
function content(dialect: Dialect, parts: readonly Part[], { random, plain }: Writing, output = false): unknown {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && 'text' in only && (plain || random() < 0.5)) return only.text;
  return parts.map((part) => ({ ...contentPart(dialect, part, output), ...(random() < 0.2 ? CACHED : {}) }));
}

function contentPart(dialect: Dialect, part: Part, output: boolean): object {
  if ('text' in part) return { type: dialect === 'responses' ? 'input_text' : 'text', text: part.text };
  switch (dialect) {
    case 'chat':
      return { type: 'image_url', image_url: { url: part.image } };
    case 'responses':
      return { type: 'input_image', image_url: part.image, ...(output ? {} : { detail: 'auto' }) };
    case 'messages': {
      const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/.exec(part.image) ?? [];
      return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
    }
    default: {
      const never: never = dialect;
      return never;
    }
  }
}

function* echoed(dialect: Dialect, reply: string, writing: Writing): Generator<string> {
  const style = <T>(...styles: Readonly<Record<string, T>>[]): T =>
    pick(
      writing.random,
      styles.flatMap((some) => Object.values(some)),
    );
  const body = JSON.parse(reply);
  switch (dialect) {
    case 'chat':
      yield str(style(CHAT_ECHO_STYLES, writing.plain ? CHAT_EMPTY_STYLES : CHAT_LIST_STYLES)(body.choices[0].message));
      return;
    case 'responses':
      yield* style(RESPONSES_STYLES)(body.output).map(str);
      return;
    case 'messages':
      yield style(MESSAGES_STYLES)({ json: Buffer.from(reply) });
      return;
    default: {
      const never: never = dialect;
      return never;
    }
  }
}

function* fromMemory(dialect: Dialect, { reasoning, text, calls }: Remembered): Generator<string> {
  switch (dialect) {
    case 'chat': {
      const tool_calls = calls.map(({ id, ...call }) => ({ id, type: 'function', function: call }));
      yield str({
        role: 'assistant',
        content: text,
        ...(reasoning === null ? {} : { reasoning }),
        ...(calls.length === 0 ? {} : { tool_calls }),
      });
      return;
    }
    case 'responses':
      if (reasoning !== null)
        yield str({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: reasoning }] });
      if (text !== null) yield str({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
      for (const { id, ...call } of calls) yield str({ type: 'function_call', call_id: id, ...call });
      return;
    case 'messages': {
      const blocks = [
        ...(reasoning === null ? [] : [str({ type: 'thinking', thinking: reasoning, signature: '' })]),
        ...(text === null ? [] : [str({ type: 'text', text })]),
        ...calls.map(
          (call) =>
            `{"type":"tool_use","id":${str(call.id)},"name":${str(call.name)},"input":${call.arguments === '' ? '{}' : call.arguments}}`,
        ),
      ];
      yield `{"role":"assistant","content":[${blocks}]}`;
      return;
    }
    default: {
      const never: never = dialect;
      return never;
    }
  }
}

function* toolOutputs(dialect: Dialect, outputs: readonly Output[], writing: Writing): Generator<string> {
  const some = writing.random() < 0.3;
  switch (dialect) {
    case 'chat':
      for (const { id, name, parts } of outputs)
        yield str({
          role: 'tool',
          tool_call_id: id,
          content: content(dialect, parts, writing),
          ...(some ? { name, status: 'success' } : {}),
        });
      return;
    case 'responses':
      for (const { id, parts } of outputs)
        yield str({
          type: 'function_call_output',
          call_id: id,
          output: content(dialect, parts, writing, true),
          ...(some ? { id: 'fco_mine', status: 'completed' } : {}),
        });
      return;
    case 'messages': {
      const results = outputs.map(({ id, parts }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: content(dialect, parts, writing),
        ...(some ? { is_error: false, ...CACHED } : {}),
      }));
      yield str({ role: 'user', content: results });
      return;
    }
    default: {
      const never: never = dialect;
      return never;
    }
  }
}

function toolList(dialect: Dialect, { tools }: History, { random }: Writing): object[] {
  const some = random() < 0.5;
  return tools.map(({ name, description, parameters }) => {
    switch (dialect) {
      case 'chat': {
        const fields = { name, description, parameters };
        return { type: 'function', function: some ? Object.fromEntries(Object.entries(fields).reverse()) : fields };
      }
      case 'responses':
        return { type: 'function', name, description, parameters, strict: false };
      case 'messages':
        return { name, description, input_schema: parameters, ...(some ? CACHED : {}) };
      default: {
        const never: never = dialect;
        return never;
      }
    }
  });
}

function shuffledMembers(members: readonly string[], random: Random): string {
  return (random() < 0.5 ? members : members.toReversed()).join(',');
}
