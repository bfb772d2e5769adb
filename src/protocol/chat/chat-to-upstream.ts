import {
  type ConversionOptions,
  type ConvertedRequest,
  type EngineMessage,
  isRefusal,
  type ReplyContext,
  type RequestRefusal,
} from '../conversation.ts';
import { unknownNames } from '../field-table.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, kindName, prefillRefusal, sharedRefusal, wrongType } from '../refusals.ts';
import { stripRequest } from '../strip.ts';
import { CHAT_FIELDS } from './compatibility.ts';
import { readMessages } from './read-messages.ts';
import { chatRefusal, forwardChatFields, readStreamWish } from './request-fields.ts';
import { convertTools } from './tools.ts';

/**
 * A Chat Completions request to the parts of the upstream Chat body (protocol sections 2 and 3). What the conversion does not change goes up as
 * the client's own bytes. A refusal names the field; nothing has been recorded by then.
 */
export function chatToUpstream(received: JsonNode, options: ConversionOptions): ConvertedRequest | RequestRefusal {
  if (!received.isObject()) return invalid(null, `the body must be a JSON object, not ${kindName(received)}`);
  const { body, stripped } = stripRequest(received);
  const refusal = sharedRefusal(body, { dialect: 'chat', ...options }) ?? chatRefusal(body);
  if (refusal !== null) return refusal;

  const model = body.present('model');
  if (model !== undefined && !model.isString()) return wrongType('model', 'a string', model);
  const wish = readStreamWish(body);
  if (isRefusal(wish)) return wish;
  const list = body.get('messages');
  const messages = readMessages(list);
  if (isRefusal(messages)) return messages;
  const prefill = options.captured ? prefillRefusal(messages, 'messages') : null;
  if (prefill !== null) return prefill;
  const tools = convertTools(body);
  if (isRefusal(tools)) return tools;
  const fields = forwardChatFields(body, options.captured);
  if (isRefusal(fields)) return fields;
  if (tools.tools !== null) fields.set('tools', tools.tools);
  if (tools.choice !== null) fields.set('tool_choice', tools.choice);

  return {
    dialect: 'chat',
    model: model?.string() ?? null,
    stream: wish.stream,
    includeUsage: wish.includeUsage,
    messages,
    verbatimMember: stripped.length === 0 && isVerbatim(messages, list) ? 'messages' : null,
    fields,
    fingerprintItems: list?.elements() ?? [],
    stripped,
    ignored: unknownNames(body.keys, CHAT_FIELDS.request),
    replyContext: replyContext(tools.clientTools),
  };
}

function isVerbatim(messages: readonly EngineMessage[], list: JsonNode | undefined): boolean {
  // Images of tool messages are messages of their own.
  return messages.length === list?.children.length && messages.every(({ verbatim }) => verbatim !== undefined);
}

function replyContext(clientTools: ReplyContext['clientTools']): ReplyContext {
  return { repeated: new Map(), clientTools, encryptedReasoning: false, refusalAsText: false };
}
