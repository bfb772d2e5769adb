import type { DialectConverter } from '../conversation.ts';
import { chatToResponses } from './chat-to-responses.ts';
import { renderResponsesSse } from './render-sse.ts';
import { responsesToChat } from './responses-to-chat.ts';

/** OpenAI Responses. */
export const responses: DialectConverter = {
  convert: responsesToChat,
  render: chatToResponses,
  stream: renderResponsesSse,
};
