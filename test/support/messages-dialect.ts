import assert from 'node:assert/strict';
import {
  type ConversionOptions,
  type ConvertedRequest,
  type EngineAnswer,
  isRefusal,
  type RenderedReply,
  type ReplyOptions,
  type RequestRefusal,
} from '../../src/protocol/conversation.ts';
import type { JsonNode } from '../../src/protocol/json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../../src/protocol/json/parse-json.ts';
import { messages } from '../../src/protocol/messages/index.ts';
import { DEFAULT_UPSTREAM_OPTIONS, upstreamBody, upstreamMessage } from '../../src/protocol/upstream-body.ts';

export const CONVERSION: ConversionOptions = {
  captured: true,
  userAgent: '',
  allowChatTemplate: false,
  alwaysEncryptReasoning: false,
  hideReasoning: false,
  chatReasoningKey: 'reasoning',
};

export const REPLY: ReplyOptions = {
  callId: '00000000000040008000000000000001',
  captured: true,
  chatReasoningKey: 'reasoning',
  hideReasoning: false,
};

export const ANSWER: EngineAnswer = {
  id: 'chatcmpl-1',
  model: 'engine-model',
  createdS: 1_700_000_000,
  content: null,
  reasoning: null,
  refusal: null,
  toolCalls: [],
  finishReason: 'stop',
  usage: { promptTokens: 10, completionTokens: 5, cachedTokens: 0, reasoningTokens: 0 },
};

/** Parses JSON text that a test wrote. */
export function json(text: string): JsonNode {
  const node = parseJsonText(text);
  assert.ok(!isJsonProblem(node), isJsonProblem(node) ? node.problem : '');
  return node;
}

/** A body as JSON text, from a value or as it is. */
export function bodyText(body: string | object): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Converts a Messages body that must be accepted. */
export function convert(body: string | object, options: Partial<ConversionOptions> = {}): ConvertedRequest {
  const request = messages.convert(json(bodyText(body)), { ...CONVERSION, ...options });
  assert.ok(!isRefusal(request), isRefusal(request) ? request.message : '');
  return request;
}

/** Converts a Messages body that must be refused. */
export function refuse(body: string | object, options: Partial<ConversionOptions> = {}): RequestRefusal {
  const request = messages.convert(json(bodyText(body)), { ...CONVERSION, ...options });
  assert.ok(isRefusal(request), 'expected a refusal');
  return request;
}

/** The upstream Chat body's text. */
export function upstreamText(request: ConvertedRequest): string {
  return upstreamBody({
    model: request.model,
    messages: request.messages.map((message) => upstreamMessage(message, DEFAULT_UPSTREAM_OPTIONS)),
    fields: request.fields,
    extra: new Map(),
  }).toString('utf8');
}

/** The upstream Chat body. */
export function upstream(body: string | object, options: Partial<ConversionOptions> = {}): Record<string, unknown> {
  return JSON.parse(upstreamText(convert(body, options))) as Record<string, unknown>;
}

/** Upstream messages for a list of Messages messages. */
export function up(list: unknown, rest: object = {}): unknown {
  return upstream({ model: 'm', max_tokens: 100, messages: list, ...rest }, { captured: false }).messages;
}

const SMALLEST = { model: 'asked-model', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };

/** An answer rendered for a small request, or for the one given. */
export function render(
  answer: Partial<EngineAnswer>,
  options: Partial<ReplyOptions> = {},
  request: ConvertedRequest = convert(SMALLEST),
): RenderedReply {
  return messages.render(request, { ...ANSWER, ...answer }, { ...REPLY, ...options });
}

/** The Message object of an answer. */
export function message(answer: Partial<EngineAnswer>, options: Partial<ReplyOptions> = {}): Record<string, unknown> {
  return JSON.parse(render(answer, options).json.toString('utf8')) as Record<string, unknown>;
}

/** The event stream of an answer, as text. */
export function streamText(answer: Partial<EngineAnswer>, options: Partial<ReplyOptions> = {}): string {
  const request = convert({ ...SMALLEST, stream: true });
  const reply = render(answer, options, request);
  return messages.stream(request, { ...ANSWER, ...answer }, reply, { ...REPLY, ...options }).toString('utf8');
}

export interface SseEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** The events of a stream whose every frame is one `event:` and one `data:` line. */
export function events(text: string): SseEvent[] {
  assert.ok(text.endsWith('\n\n'));
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const lines = frame.split('\n');
      assert.equal(lines.length, 2, frame);
      const [event, data] = lines as [string, string];
      assert.ok(event.startsWith('event: ') && data.startsWith('data: '), frame);
      return { event: event.slice(7), data: JSON.parse(data.slice(6)) as Record<string, unknown> };
    });
}
