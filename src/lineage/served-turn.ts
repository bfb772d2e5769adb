import { chat } from '../protocol/chat/index.ts';
import {
  type AssistantMessage,
  type ConversionOptions,
  type Dialect,
  type DialectConverter,
  isRefusal,
} from '../protocol/conversation.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { messages } from '../protocol/messages/index.ts';
import { responses } from '../protocol/responses/index.ts';

export const CONVERTERS: Readonly<Record<Dialect, DialectConverter>> = { responses, chat, messages };

/** Conversion where there is no service: captured, with its defaults. */
export const OFFLINE: ConversionOptions = {
  captured: true,
  userAgent: '',
  allowChatTemplate: true,
  alwaysEncryptReasoning: false,
  hideReasoning: false,
  chatReasoningKey: 'reasoning',
};

/** The turn that a faithful echo of this reply converts to; empty where the reply holds none. */
export function servedTurn(dialect: Dialect, request: JsonNode, response: JsonNode): readonly AssistantMessage[] {
  const echo = echoBody(dialect, request, response);
  const body = echo === null ? null : parseJson(Buffer.from(echo));
  if (body === null || isJsonProblem(body)) return [];
  const converted = CONVERTERS[dialect].convert(body, { ...OFFLINE, captured: false });
  if (isRefusal(converted)) return [];
  return converted.messages.filter((message) => message.role === 'assistant');
}

function echoBody(dialect: Dialect, request: JsonNode, response: JsonNode): string | null {
  const text = (node: JsonNode | undefined, fallback: string) => node?.rawText() ?? fallback;
  switch (dialect) {
    case 'responses': {
      // Names of tools in namespaces are known by the request's tools alone.
      const output = response.present('output');
      return output === undefined
        ? null
        : `{"model":"m","tools":${text(request.present('tools'), '[]')},"input":${output.rawText()}}`;
    }
    case 'chat': {
      const message = response.present('choices')?.elements()[0]?.present('message');
      return message === undefined ? null : `{"model":"m","messages":[${message.rawText()}]}`;
    }
    case 'messages': {
      const content = response.present('content');
      return content === undefined
        ? null
        : `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":${content.rawText()}}]}`;
    }
    default: {
      const never: never = dialect;
      return never;
    }
  }
}
