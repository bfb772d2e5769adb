import type { DialectConverter } from '../conversation.ts';
import { chatToUpstream } from './chat-to-upstream.ts';
import { renderChatSse } from './render-sse.ts';
import { upstreamToChat } from './upstream-to-chat.ts';

/** Chat Completions. */
export const chat: DialectConverter = {
  convert: chatToUpstream,
  render: upstreamToChat,
  stream: (request, answer, _reply, options) => renderChatSse(request, answer, options),
};
