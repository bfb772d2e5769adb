import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chat } from '../../src/protocol/chat/index.ts';
import {
  type ConversionOptions,
  type ConvertedRequest,
  type DialectConverter,
  isRefusal,
  type ReplyOptions,
} from '../../src/protocol/conversation.ts';
import { isJsonProblem, parseJsonText } from '../../src/protocol/json/parse-json.ts';
import { messages } from '../../src/protocol/messages/index.ts';
import { inputJson } from '../../src/protocol/messages/tool-input.ts';
import { responses } from '../../src/protocol/responses/index.ts';
import { pieces } from '../../src/protocol/sse.ts';
import { anyAnswer } from '../support/answers.ts';

/** Streams to the byte, against the plainest way to write them: the JSON reply taken apart into events, each written by `JSON.stringify`. */

const OPTIONS: ConversionOptions = {
  captured: true,
  userAgent: 'test/1.0',
  allowChatTemplate: false,
  alwaysEncryptReasoning: false,
  hideReasoning: false,
  chatReasoningKey: 'both',
};
const REPLY: ReplyOptions = {
  callId: '0123456789abcdef0123456789abcdef',
  captured: true,
  chatReasoningKey: 'both',
  hideReasoning: false,
};

type Json = Record<string, unknown>;
type Event = { readonly type: string } & Json;

function request(converter: DialectConverter, body: Json): ConvertedRequest {
  const node = parseJsonText(JSON.stringify({ model: 'asked', stream: true, ...body }));
  assert.ok(!isJsonProblem(node));
  const converted = converter.convert(node, OPTIONS);
  assert.ok(!isRefusal(converted));
  return converted;
}

const asEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const dataLine = (value: unknown) => `data: ${JSON.stringify(value).replace(/[\u0085\u2028\u2029]/g, asEscape)}\n\n`;
const namedFrame = (event: Event) => `event: ${event.type}\n${dataLine(event)}`;

interface ChatCompletion extends Json {
  readonly choices: readonly [
    {
      readonly message: Json & {
        readonly content: string | null;
        readonly refusal: string | null;
        readonly reasoning?: string;
        readonly tool_calls?: readonly ChatCall[];
      };
      readonly finish_reason: string;
    },
  ];
  readonly usage: Json;
}

interface ChatCall extends Json {
  readonly id: string;
  readonly type: 'function' | 'custom';
  readonly function?: { readonly name: string; readonly arguments: string };
  readonly custom?: { readonly name: string; readonly input: string };
}

function chatStream(reply: ChatCompletion): string {
  const [{ message, finish_reason }] = reply.choices;
  const head = { id: reply.id, object: 'chat.completion.chunk', created: reply.created, model: reply.model };
  const deltas: Json[] = [{ role: 'assistant', content: message.content === null ? null : '' }];
  for (const piece of pieces(message.reasoning ?? '')) deltas.push({ reasoning: piece, reasoning_content: piece });
  for (const piece of pieces(message.content ?? '')) deltas.push({ content: piece });
  for (const piece of pieces(message.refusal ?? '')) deltas.push({ refusal: piece });
  message.tool_calls?.forEach(({ id, type, function: called, custom }, index) => {
    const member = type === 'custom' ? 'input' : 'arguments';
    const name = (custom ?? called)?.name;
    deltas.push({ tool_calls: [{ index, id, type, [type]: { name, [member]: '' } }] });
    for (const piece of pieces(custom?.input ?? called?.arguments ?? ''))
      deltas.push({ tool_calls: [{ index, [type]: { [member]: piece } }] });
  });
  const choice = (delta: Json, reason: string | null) => ({ index: 0, delta, logprobs: null, finish_reason: reason });
  const chunks = [...deltas.map((delta) => choice(delta, null)), choice({}, finish_reason)];
  const frames = chunks.map((chunk) => dataLine({ ...head, choices: [chunk], usage: null }));
  return `${frames.join('')}${dataLine({ ...head, choices: [], usage: reply.usage })}data: [DONE]\n\n`;
}

interface ResponseItem extends Json {
  readonly id: string;
  readonly type: 'reasoning' | 'message' | 'function_call' | 'custom_tool_call';
  readonly summary?: readonly ResponsePart[];
  readonly content?: readonly ResponsePart[];
  readonly name?: string;
  readonly arguments?: string;
  readonly input?: string;
}

interface ResponsePart extends Json {
  readonly type: 'output_text' | 'refusal' | 'reasoning_text' | 'summary_text';
  readonly text?: string;
  readonly refusal?: string;
}

function responsesStream(reply: Json & { readonly status: string; readonly output: readonly ResponseItem[] }): string {
  const begun = { ...reply, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  const events: Event[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...reply.output.flatMap(itemEvents),
    { type: `response.${reply.status}`, response: reply },
  ];
  return events.map(({ type, ...members }, at) => namedFrame({ type, sequence_number: at, ...members })).join('');
}

function itemEvents(item: ResponseItem, output_index: number): Event[] {
  const { encrypted_content: _, ...opened } = item;
  const empty: Json = { status: 'in_progress', content: [], summary: [], arguments: '', input: '' };
  for (const key of Object.keys(opened)) if (key in empty) (opened as Json)[key] = empty[key];
  const at = { item_id: item.id, output_index };
  const deltas = (type: string, where: Json, text: string, rest: Json = {}): Event[] =>
    pieces(text).map((delta) => ({ type, ...where, delta, ...rest }));
  const inside: Event[] = [];
  item.summary?.forEach((part, summary_index) => {
    const where = { ...at, summary_index };
    inside.push(
      { type: 'response.reasoning_summary_part.added', ...where, part: { type: 'summary_text', text: '' } },
      ...deltas('response.reasoning_summary_text.delta', where, part.text ?? ''),
      { type: 'response.reasoning_summary_text.done', ...where, text: part.text },
      { type: 'response.reasoning_summary_part.done', ...where, part },
    );
  });
  item.content?.forEach((part, content_index) => {
    const where = { ...at, content_index };
    const member = part.type === 'refusal' ? 'refusal' : 'text';
    const rest = part.type === 'output_text' ? { logprobs: [] } : {};
    inside.push(
      { type: 'response.content_part.added', ...where, part: { ...part, [member]: '' } },
      ...deltas(`response.${part.type}.delta`, where, part[member] ?? '', rest),
      { type: `response.${part.type}.done`, ...where, [member]: part[member], ...rest },
      { type: 'response.content_part.done', ...where, part },
    );
  });
  if (item.type === 'function_call')
    inside.push(...deltas('response.function_call_arguments.delta', at, item.arguments ?? ''), {
      type: 'response.function_call_arguments.done',
      ...at,
      name: item.name,
      arguments: item.arguments,
    });
  if (item.type === 'custom_tool_call')
    inside.push(...deltas('response.custom_tool_call_input.delta', at, item.input ?? ''), {
      type: 'response.custom_tool_call_input.done',
      ...at,
      input: item.input,
    });
  return [
    { type: 'response.output_item.added', output_index, item: opened },
    ...inside,
    { type: 'response.output_item.done', output_index, item },
  ];
}

type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string };

interface Message extends Json {
  readonly content: readonly Block[];
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: null;
  readonly usage: Json;
}

function messagesStream(reply: Message, inputs: readonly string[]): string {
  const { stop_reason, stop_sequence, stop_details, usage } = reply;
  const { output_tokens_details: _, ...begun } = { ...usage, output_tokens: 0 } as Json;
  const events: Event[] = [
    {
      type: 'message_start',
      message: { ...reply, content: [], stop_reason: null, stop_sequence: null, usage: begun },
    },
    { type: 'ping' },
  ];
  const left = [...inputs];
  reply.content.forEach((block, index) => {
    events.push(
      { type: 'content_block_start', index, content_block: emptyBlock(block) },
      ...blockDeltas(block, left).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    );
  });
  events.push(
    { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details }, usage },
    { type: 'message_stop' },
  );
  return events.map(namedFrame).join('');
}

function emptyBlock(block: Block): Json {
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (block.type === 'text') return { type: 'text', text: '' };
  return { type: 'tool_use', id: block.id, name: block.name, input: {} };
}

/** The text of an input is in no parsed reply: `inputs` has those of the calls to come. */
function blockDeltas(block: Block, inputs: string[]): Json[] {
  if (block.type === 'thinking')
    return [
      ...pieces(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: block.signature },
    ];
  if (block.type === 'text') return pieces(block.text).map((text) => ({ type: 'text_delta', text }));
  return pieces(inputs.shift() ?? '').map((partial_json) => ({ type: 'input_json_delta', partial_json }));
}

const DESCRIPTION = 'over\u2028two lines\u0085😀';

const CHAT = request(chat, {
  stream_options: { include_usage: true },
  messages: [{ role: 'user', content: 'hi' }],
  tools: [{ type: 'custom', custom: { name: 'Bash', description: DESCRIPTION } }],
});
const RESPONSES = request(responses, {
  include: ['reasoning.encrypted_content'],
  instructions: DESCRIPTION,
  input: 'hi',
  metadata: { [DESCRIPTION]: 'x' },
  tools: [
    { type: 'custom', name: 'Bash', description: DESCRIPTION },
    { type: 'namespace', name: 'mcp__server', tools: [{ type: 'function', name: 'tool' }] },
  ],
});
const MESSAGES = request(messages, { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });

test('Chat streams, for 500 random answers', () => {
  fc.assert(
    fc.property(anyAnswer(), (answer) => {
      const reply = chat.render(CHAT, answer, REPLY);
      const want = chatStream(JSON.parse(reply.json.toString()));
      assert.equal(chat.stream(CHAT, answer, reply, REPLY).toString(), want);
    }),
    { numRuns: 500 },
  );
});

test('Responses streams, for 500 random answers', () => {
  fc.assert(
    fc.property(anyAnswer(), (answer) => {
      const reply = responses.render(RESPONSES, answer, REPLY);
      const want = responsesStream(JSON.parse(reply.json.toString()));
      assert.equal(responses.stream(RESPONSES, answer, reply, REPLY).toString(), want);
    }),
    { numRuns: 500 },
  );
});

test('Messages streams, for 500 random answers', () => {
  fc.assert(
    fc.property(anyAnswer(), (answer) => {
      const reply = messages.render(MESSAGES, answer, REPLY);
      const inputs = answer.toolCalls.map((call) => inputJson(call.arguments));
      const want = messagesStream(JSON.parse(reply.json.toString()), inputs);
      assert.equal(messages.stream(MESSAGES, answer, reply, REPLY).toString(), want);
    }),
    { numRuns: 500 },
  );
});
