import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../context.ts';
import type { ConversionOptions, ConvertedRequest, ReplyOptions } from '../protocol/conversation.ts';
import { type JsonFragment, jsonString } from '../protocol/json/fragment.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { allowsVerbatim, type UpstreamBodyParts, upstreamMessage } from '../protocol/upstream-body.ts';

/** What a call takes from the configuration. */

export function conversionOptions(
  ctx: Context,
  incoming: { readonly attempt: string | null; readonly headers: IncomingHttpHeaders },
): ConversionOptions {
  const { config } = ctx;
  return {
    captured: incoming.attempt !== null,
    userAgent: incoming.headers['user-agent'] ?? '',
    allowChatTemplate: config.requests.chat_template === 'allow',
    alwaysEncryptReasoning: config.reasoning.encrypted === 'always',
    hideReasoning: config.lineage.reasoning === 'hidden',
    chatReasoningKey: config.reasoning.chat_key,
  };
}

export function replyOptions(ctx: Context, callId: string, captured: boolean): ReplyOptions {
  return {
    callId,
    captured,
    chatReasoningKey: ctx.config.reasoning.chat_key,
    hideReasoning: ctx.config.lineage.reasoning === 'hidden',
  };
}

/** Upstream members of a call: what the conversion mapped, then the server's own word on model and sampling. */
export function upstreamFields(ctx: Context, request: ConvertedRequest): Map<string, JsonFragment> {
  const { model, sampling } = ctx.config;
  const asked = request.model;
  const alias = asked !== null && Object.hasOwn(model.aliases, asked) ? model.aliases[asked] : undefined;
  const name = model.override ?? alias ?? asked;
  const fields = new Map<string, JsonFragment>();
  if (name !== null) fields.set('model', jsonString(name));
  for (const [key, value] of request.fields) fields.set(key, value);
  for (const [key, value] of Object.entries(sampling.override)) {
    if (value === null) fields.delete(key);
    else fields.set(key, JSON.stringify(value));
  }
  return fields;
}

/** Upstream messages of a request, as the engine wants them; in one piece where `body`, which it was read from, has them so. */
export function upstreamMessages(
  ctx: Context,
  request: ConvertedRequest,
  body: JsonNode | null,
): UpstreamBodyParts['messages'] {
  const options = { reasoningKey: ctx.config.worker.reasoning_key, callIdLimit: ctx.config.worker.call_id_limit };
  const list = request.verbatimMember === null ? undefined : body?.get(request.verbatimMember);
  if (list !== undefined && request.messages.every((message) => allowsVerbatim(message, options))) return list.raw();
  return request.messages.map((message) => upstreamMessage(message, options));
}
