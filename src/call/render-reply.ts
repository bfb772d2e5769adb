import type { ConvertedRequest, EngineAnswer, RenderedReply, ReplyOptions } from '../protocol/conversation.ts';
import { CONVERTERS } from './parse-call.ts';

/** All bytes of a finished reply in the form that the request asked for: one JSON object, or the whole event stream. */
export function replyBytes(
  request: ConvertedRequest,
  answer: EngineAnswer,
  reply: RenderedReply,
  options: ReplyOptions,
): Buffer {
  return request.stream ? CONVERTERS[request.dialect].stream(request, answer, reply, options) : reply.json;
}

/** The bytes of an answer for a request of the same body: what a re-send gets. The same call always renders the same ids. */
export function renderAgain(request: ConvertedRequest, answer: EngineAnswer, options: ReplyOptions): Buffer {
  return replyBytes(request, answer, CONVERTERS[request.dialect].render(request, answer, options), options);
}
