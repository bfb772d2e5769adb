import type { ConversionOptions, ConvertedRequest, DialectConverter, RequestRefusal } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { chatToMessages } from './chat-to-messages.ts';
import { messagesToChat } from './messages-to-chat.ts';
import { renderSse } from './render-sse.ts';

/** The Anthropic Messages dialect. */
export const messages: DialectConverter = {
  convert: (body, options) => messagesToChat(body, options, 'answer'),
  render: chatToMessages,
  stream: renderSse,
};

/**
 * A `count_tokens` body, converted like the request that it stands for, so that the worker counts the same prompt. Nothing is generated, so a
 * history that ends in an assistant turn is no reason to refuse.
 */
export function convertCountTokens(body: JsonNode, options: ConversionOptions): ConvertedRequest | RequestRefusal {
  return messagesToChat(body, options, 'count');
}
