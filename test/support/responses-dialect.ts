import assert from 'node:assert/strict';
import {
  type ConversionOptions,
  type ConvertedRequest,
  type EngineAnswer,
  type EngineMessage,
  isRefusal,
  type RenderedReply,
  type ReplyOptions,
  type RequestRefusal,
} from '../../src/protocol/conversation.ts';
import { fragmentText, joinFragments } from '../../src/protocol/json/fragment.ts';
import type { JsonNode } from '../../src/protocol/json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../../src/protocol/json/parse-json.ts';
import { responses } from '../../src/protocol/responses/index.ts';
import { DEFAULT_UPSTREAM_OPTIONS, upstreamMessage } from '../../src/protocol/upstream-body.ts';

/** A captured call of an unknown client with the default configuration. */
export const CAPTURED: ConversionOptions = {
  captured: true,
  userAgent: 'test/1.0',
  allowChatTemplate: false,
  alwaysEncryptReasoning: false,
  hideReasoning: false,
  chatReasoningKey: 'reasoning',
};
export const UNCAPTURED: ConversionOptions = { ...CAPTURED, captured: false };

export const REPLY: ReplyOptions = {
  callId: '0123456789abcdef0123456789abcdef',
  captured: true,
  chatReasoningKey: 'reasoning',
  hideReasoning: false,
};

/** JSON text, or a value that is written as JSON. */
export type Body = string | object;

export function json(body: Body): JsonNode {
  const node = parseJsonText(typeof body === 'string' ? body : JSON.stringify(body));
  assert.ok(!isJsonProblem(node), `no JSON: ${String(body)}`);
  return node;
}

/** A request that must be accepted. */
export function convert(body: Body, options: ConversionOptions = CAPTURED): ConvertedRequest {
  const request = responses.convert(json(body), options);
  assert.ok(!isRefusal(request), `refused: ${isRefusal(request) ? request.message : ''}`);
  return request;
}

/** A request that must be refused. */
export function refuse(body: Body, options: ConversionOptions = CAPTURED): RequestRefusal {
  const request = responses.convert(json(body), options);
  assert.ok(isRefusal(request), 'the request was accepted');
  return request;
}

/** Messages as the engine gets them, as values. */
export function upstream(messages: readonly EngineMessage[]): unknown[] {
  return messages.map((message) =>
    JSON.parse(joinFragments(upstreamMessage(message, DEFAULT_UPSTREAM_OPTIONS)).toString()),
  );
}

/** The upstream messages of an input, uncaptured, so that it may end in any role. */
export function up(input: Body | string, rest: object = {}): unknown[] {
  return upstream(convert({ model: 'm', input, ...rest }, UNCAPTURED).messages);
}

/** An upstream member beside the messages, as text; undefined where there is none. */
export function fieldText(request: ConvertedRequest, name: string): string | undefined {
  const fragment = request.fields.get(name);
  return fragment === undefined ? undefined : fragmentText(fragment);
}

/** An upstream member beside the messages, as a value. */
export function field(request: ConvertedRequest, name: string): unknown {
  const text = fieldText(request, name);
  return text === undefined ? undefined : JSON.parse(text);
}

/** An engine's answer with one text, changed as wanted. */
export function engineAnswer(changes: Partial<EngineAnswer> = {}): EngineAnswer {
  return {
    id: 'chatcmpl-1',
    model: 'engine-model',
    createdS: 1_700_000_000,
    content: 'hello',
    reasoning: null,
    refusal: null,
    toolCalls: [],
    finishReason: 'stop',
    usage: { promptTokens: 10, completionTokens: 5, cachedTokens: 0, reasoningTokens: 0 },
    ...changes,
  };
}

/** The simplest request, for tests of replies. */
export function anyRequest(changes: object = {}, options: ConversionOptions = CAPTURED): ConvertedRequest {
  return convert({ model: 'm', input: 'q', ...changes }, options);
}

export function render(
  request: ConvertedRequest,
  answer: Partial<EngineAnswer> = {},
  options: ReplyOptions = REPLY,
): RenderedReply {
  return responses.render(request, engineAnswer(answer), options);
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface ServedResponse extends JsonObject {
  readonly id: string;
  readonly status: string;
  readonly output: readonly JsonObject[];
}

/** The served Response object as a value. */
export function served(
  request: ConvertedRequest,
  answer: Partial<EngineAnswer> = {},
  options: ReplyOptions = REPLY,
): ServedResponse {
  return JSON.parse(render(request, answer, options).json.toString());
}

export interface SseEvent {
  readonly event: string;
  readonly data: JsonObject;
}

/** The events of the stream of an answer. */
export function streamed(
  request: ConvertedRequest,
  answer: Partial<EngineAnswer> = {},
  options: ReplyOptions = REPLY,
): SseEvent[] {
  return parseSse(streamBytes(request, answer, options).toString());
}

export function streamBytes(
  request: ConvertedRequest,
  answer: Partial<EngineAnswer> = {},
  options: ReplyOptions = REPLY,
): Buffer {
  const full = engineAnswer(answer);
  return responses.stream(request, full, responses.render(request, full, options), options);
}

function parseSse(text: string): SseEvent[] {
  assert.ok(text.endsWith('\n\n'), 'the last frame is not closed');
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const lines = frame.split('\n');
      assert.equal(lines.length, 2, `not one event and one data line: ${frame}`);
      const [event, data] = lines as [string, string];
      assert.ok(event.startsWith('event: ') && data.startsWith('data: '), frame);
      return { event: event.slice(7), data: JSON.parse(data.slice(6)) };
    });
}
