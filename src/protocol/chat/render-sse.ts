import type { ConvertedRequest, EngineAnswer, EngineToolCall, ReplyOptions } from '../conversation.ts';
import { customInput } from '../custom-tool.ts';
import { jsonString } from '../json/fragment.ts';
import { pieces, SSE_DONE, sseFrame } from '../sse.ts';
import { envelopeMembers, isCustomCall, reasoningNames, servedContent, usageJson } from './upstream-to-chat.ts';

/**
 * The reply as a Chat stream, complete: the role, reasoning in one piece, content and refusal in several, the calls (id and name on the first delta of each, C111),
 * the finish reason, usage where it was asked for (C117), `[DONE]`. Put together it is the message of the JSON reply: `reasoning` is no member of the published type, so the
 * official JavaScript client keeps of it what the last delta says.
 */
export function renderChatSse(request: ConvertedRequest, answer: EngineAnswer, options: ReplyOptions): Buffer {
  const head = `{${envelopeMembers('chat.completion.chunk', request, answer)},"choices":[`;
  const tail = request.includeUsage ? '],"usage":null}' : ']}';
  const chunk = (delta: string, finishReason = 'null') =>
    sseFrame(`${head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finishReason}}${tail}`);

  const frames: string[] = [];
  const push = (delta: string) => frames.push(chunk(delta));
  const content = servedContent(answer);
  push(`{"role":"assistant","content":${content === null ? 'null' : '""'}}`);
  const names = reasoningNames(answer, options);
  if (names.length > 0) push(`{${names.map((name) => `"${name}":${jsonString(answer.reasoning ?? '')}`).join(',')}}`);
  for (const piece of pieces(content ?? '')) push(`{"content":${jsonString(piece)}}`);
  for (const piece of pieces(answer.refusal ?? '')) push(`{"refusal":${jsonString(piece)}}`);
  answer.toolCalls.forEach((call, index) => {
    for (const delta of callDeltas(request, call, index)) push(`{"tool_calls":[${delta}]}`);
  });
  frames.push(chunk('{}', jsonString(answer.finishReason)));
  if (request.includeUsage) frames.push(sseFrame(`${head}],"usage":${usageJson(answer)}}`));
  frames.push(SSE_DONE);
  return Buffer.from(frames.join(''));
}

function callDeltas(request: ConvertedRequest, call: EngineToolCall, index: number): string[] {
  const custom = isCustomCall(request, call);
  const [type, member, text] = custom
    ? ['custom', 'input', customInput(call.arguments)]
    : ['function', 'arguments', call.arguments];
  const first = `{"index":${index},"id":${jsonString(call.id)},"type":"${type}","${type}":{"name":${jsonString(call.name)},"${member}":""}}`;
  return [first, ...pieces(text).map((piece) => `{"index":${index},"${type}":{"${member}":${jsonString(piece)}}}`)];
}
