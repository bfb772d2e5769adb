import {
  type ConversionOptions,
  type ConvertedRequest,
  type EngineMessage,
  isRefusal,
  type RequestRefusal,
} from '../conversation.ts';
import { unknownNames } from '../field-table.ts';
import type { JsonFragment } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { flag, prefillRefusal, sharedRefusal, unsupported, wrongType } from '../refusals.ts';
import { stripRequest } from '../strip.ts';
import { MESSAGES_FIELDS } from './compatibility.ts';
import { foldMessages } from './fold-messages.ts';
import { convertFields, dialectRefusal } from './request-fields.ts';
import { systemContent, systemMessage } from './system-prompt.ts';
import { toResponsesItems } from './to-responses-items.ts';
import { convertToolChoice, convertTools, rawDeclarations } from './tools.ts';

/** What a request is for: an answer, or the number of its prompt's tokens. */
export type Purpose = 'answer' | 'count';

/**
 * A Messages request as the upstream Chat body's parts, or a refusal that names the member. `max_tokens` may be absent: the engine then
 * generates up to its own limit.
 */
export function messagesToChat(
  sent: JsonNode,
  options: ConversionOptions,
  purpose: Purpose,
): ConvertedRequest | RequestRefusal {
  if (!sent.isObject()) return wrongType('body', 'an object', sent);
  const { body, stripped } = stripRequest(sent);
  const head = requestHead(body, options, purpose);
  if (isRefusal(head)) return head;

  const tools = convertTools(body.present('tools'));
  if (isRefusal(tools)) return tools;
  const declaresRaw = rawDeclarations(tools.json);
  const messages = conversation(body, declaresRaw);
  if (isRefusal(messages)) return messages;

  const fields = new Map<string, JsonFragment>();
  const refusal = convertFields(body, fields);
  if (refusal !== null) return refusal;
  const choice = convertToolChoice(body.present('tool_choice'), tools);
  if (isRefusal(choice)) return choice;
  if (tools.json !== null) fields.set('tools', tools.json);
  for (const [name, json] of choice) fields.set(name, json);
  const prefill = convertPrefill(messages, options, purpose, fields);
  if (prefill !== null) return prefill;

  const items = once(() => toResponsesItems(body.get('messages')?.elements() ?? [], declaresRaw));
  return {
    dialect: 'messages',
    model: head.model,
    stream: head.stream,
    includeUsage: true,
    messages,
    fields,
    // Read for captured calls alone.
    get fingerprintItems() {
      return items();
    },
    verbatimMember: null,
    stripped,
    ignored: [
      ...unknownNames(body.keys, MESSAGES_FIELDS.request),
      ...[...tools.leftOut.values()].map((type) => `tools: ${type}`),
    ],
    replyContext: { repeated: new Map(), clientTools: new Map(), encryptedReasoning: true, refusalAsText: true },
  };
}

function requestHead(
  body: JsonNode,
  options: ConversionOptions,
  purpose: Purpose,
): { readonly model: string | null; readonly stream: boolean } | RequestRefusal {
  const { captured, allowChatTemplate } = options;
  const refusal =
    sharedRefusal(body, { dialect: 'messages', captured, allowChatTemplate }) ?? dialectRefusal(body, purpose);
  if (refusal !== null) return refusal;
  const model = body.present('model');
  if (model !== undefined && !model.isString()) return wrongType('model', 'a string', model);
  const stream = flag(body, 'stream');
  if (stream !== null && typeof stream !== 'boolean') return stream;
  return { model: model?.string() ?? null, stream: stream === true };
}

function conversation(
  body: JsonNode,
  declaresRaw: ReturnType<typeof rawDeclarations>,
): readonly EngineMessage[] | RequestRefusal {
  const prompt = systemContent(body.present('system'));
  if (isRefusal(prompt)) return prompt;
  const folded = foldMessages(body.get('messages'), declaresRaw);
  if (isRefusal(folded)) return folded;
  const system = systemMessage([prompt, ...folded.leading]);
  return system === null ? folded.messages : [system, ...folded.messages];
}

/**
 * Prefill, a history that ends in an assistant turn: refused under capture; elsewhere the engine continues that very turn and answers with the
 * continuation alone, as the dialect says. A turn with calls cannot be continued, its results are missing. Counting only reads the prompt.
 */
function convertPrefill(
  messages: readonly EngineMessage[],
  options: ConversionOptions,
  purpose: Purpose,
  fields: Map<string, JsonFragment>,
): RequestRefusal | null {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return null;
  if (options.captured && purpose === 'answer') return prefillRefusal(messages, 'messages');
  if (last.toolCalls.length > 0)
    return unsupported('messages', 'the last turn calls tools; add a user message with a tool_result for each call');
  fields.set('add_generation_prompt', 'false');
  fields.set('continue_final_message', 'true');
  return null;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
