import { javaScriptArguments, pythonArguments } from './responses-echo.ts';

/** A served Chat message, and how clients send it back (clients.md 2.1, 2.5), each as the same turn. */
export type ChatEchoStyle = (message: ChatMessage) => object;

export interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly reasoning?: string;
  readonly tool_calls?: readonly ChatCall[];
}

interface ChatCall {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

const withArguments = (message: ChatMessage, write: (text: string) => string): ChatMessage =>
  message.tool_calls === undefined
    ? message
    : {
        ...message,
        tool_calls: message.tool_calls.map((call) => ({
          ...call,
          function: { ...call.function, arguments: write(call.function.arguments) },
        })),
      };

const bare = ({ role, content, tool_calls }: ChatMessage) => ({
  role,
  content,
  ...(tool_calls === undefined ? {} : { tool_calls }),
});

export const CHAT_ECHO_STYLES: Readonly<Record<string, ChatEchoStyle>> = {
  verbatim: (message) => message,
  'opencode: reasoning under its other name, arguments through JavaScript': (message) => ({
    ...bare(withArguments(message, javaScriptArguments)),
    ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
  }),
  'LangChain: arguments through Python': (message) => withArguments(message, pythonArguments),
  'a dump with everything that the library knows': (message) => ({
    function_call: null,
    audio: null,
    refusal: null,
    annotations: [],
    tool_calls: null,
    provider_specific_fields: { refusal: null },
    ...message,
  }),
  'keys in another order': (message) => Object.fromEntries(Object.entries(message).reverse()),
  'ids, index and cache_control added': (message) => ({
    id: 'chatcmpl-mine',
    status: 'completed',
    cache_control: { type: 'ephemeral' },
    ...message,
    ...(message.tool_calls === undefined
      ? {}
      : { tool_calls: message.tool_calls.map((call, index) => ({ index, namespace: null, ...call })) }),
  }),
  'reasoning under both names': (message) =>
    message.reasoning === undefined ? message : { ...message, reasoning_content: message.reasoning },
  'pydantic-ai: an empty reasoning where there is none': (message) =>
    message.reasoning === undefined ? { ...message, reasoning_content: '' } : message,
};

/** Those that make a list of the text: templates may then tell null and "" apart (protocol section 5). */
export const CHAT_LIST_STYLES: Readonly<Record<string, ChatEchoStyle>> = {
  'Agents JS: the text as a list, with the members of the message in it': (message) =>
    message.content === null
      ? message
      : { ...message, content: [{ type: 'text', text: message.content, ...withoutContent(message) }] },
  'the text in two parts': (message) => {
    if (message.content === null || message.content === '') return message;
    const middle = message.content.length >> 1;
    const halves = [message.content.slice(0, middle), message.content.slice(middle)];
    return { ...message, content: halves.map((text) => ({ type: 'text', text })) };
  },
};

/** Those that need the declared equivalence of null and "" beside calls. */
export const CHAT_EMPTY_STYLES: Readonly<Record<string, ChatEchoStyle>> = {
  'null as ""': (message) =>
    message.content === null && message.tool_calls !== undefined ? { ...message, content: '' } : message,
  '"" as null': (message) =>
    message.content === '' && message.tool_calls !== undefined ? { ...message, content: null } : message,
};

function withoutContent(message: ChatMessage): object {
  return Object.fromEntries(Object.entries(message).filter(([key]) => key !== 'content' && key !== 'tool_calls'));
}
