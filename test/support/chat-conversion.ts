import assert from 'node:assert/strict';
import { chat } from '../../src/protocol/chat/index.ts';
import {
  type ConversionOptions,
  type ConvertedRequest,
  type EngineAnswer,
  isRefusal,
  type ReplyOptions,
  type RequestRefusal,
} from '../../src/protocol/conversation.ts';
import { joinFragments } from '../../src/protocol/json/fragment.ts';
import type { JsonNode } from '../../src/protocol/json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../../src/protocol/json/parse-json.ts';
import {
  DEFAULT_UPSTREAM_OPTIONS,
  type UpstreamOptions,
  upstreamBody,
  upstreamMessage,
} from '../../src/protocol/upstream-body.ts';

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
export function convertChat(body: Body, options: ConversionOptions = CAPTURED): ConvertedRequest {
  const request = chat.convert(json(body), options);
  assert.ok(!isRefusal(request), `refused: ${isRefusal(request) ? request.message : ''}`);
  return request;
}

/** A request that must be refused. */
export function refuseChat(body: Body, options: ConversionOptions = CAPTURED): RequestRefusal {
  const request = chat.convert(json(body), options);
  assert.ok(isRefusal(request), 'the request was accepted');
  return request;
}

/** The upstream body's text, without what capture adds. */
export function upstreamText(request: ConvertedRequest, options: UpstreamOptions = DEFAULT_UPSTREAM_OPTIONS): string {
  const messages = request.messages.map((message) => upstreamMessage(message, options));
  return upstreamBody({ model: request.model, messages, fields: request.fields, extra: new Map() }).toString();
}

/** The upstream messages as values. */
export function upstreamMessages(
  request: ConvertedRequest,
  options: UpstreamOptions = DEFAULT_UPSTREAM_OPTIONS,
): unknown[] {
  return request.messages.map((message) => JSON.parse(joinFragments(upstreamMessage(message, options)).toString()));
}

/** Upstream messages of one Chat history, uncaptured so that it may end in any role. */
export function chatUp(...messages: object[]): unknown[] {
  return upstreamMessages(convertChat({ model: 'm', messages }, UNCAPTURED));
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
export function anyRequest(changes: object = {}): ConvertedRequest {
  return convertChat({ model: 'm', messages: [{ role: 'user', content: 'q' }], ...changes });
}
