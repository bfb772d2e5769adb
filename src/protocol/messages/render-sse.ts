import type { ConvertedRequest, EngineAnswer, RenderedReply, ReplyOptions } from '../conversation.ts';
import { jsonString } from '../json/fragment.ts';
import { pieces, sseFrame } from '../sse.ts';
import { messageJson, replyModel, stopJson, usageJson } from './chat-to-messages.ts';
import { type ReplyBlock, replyBlocks, stopOf } from './reply-blocks.ts';

/**
 * The whole event stream of a reply: `message_start` (no output counted yet), a ping, every block in full before the next one, then
 * `message_delta` with stop and usage, and `message_stop`. The events add up to the JSON reply.
 */
export function renderSse(
  request: ConvertedRequest,
  answer: EngineAnswer,
  reply: RenderedReply,
  options: ReplyOptions,
): Buffer {
  const start = messageJson({
    id: reply.responseId,
    model: replyModel(request, answer),
    content: [],
    stopReason: null,
    stopSequence: null,
    usage: usageJson(answer.usage, 0),
  });
  const frames = [event('message_start', `"message":${start}`), event('ping', null)];
  replyBlocks(answer, options).forEach((block, index) => {
    frames.push(...blockFrames(block, index));
  });
  frames.push(
    event('message_delta', `"delta":{${stopJson(stopOf(answer))}},"usage":${usageJson(answer.usage)}`),
    event('message_stop', null),
  );
  return Buffer.from(frames.join(''));
}

/** A frame with its `event:` line, which some clients need (C116). */
function event(name: string, members: string | null): string {
  return sseFrame(members === null ? `{"type":"${name}"}` : `{"type":"${name}",${members}}`, name);
}

function blockFrames(block: ReplyBlock, index: number): string[] {
  const delta = (members: string) => event('content_block_delta', `"index":${index},"delta":{${members}}`);
  return [
    event('content_block_start', `"index":${index},"content_block":${emptyBlock(block)}`),
    ...deltas(block).map(delta),
    event('content_block_stop', `"index":${index}`),
  ];
}

function emptyBlock(block: ReplyBlock): string {
  switch (block.type) {
    case 'thinking':
      return '{"type":"thinking","thinking":"","signature":""}';
    case 'text':
      return '{"type":"text","text":""}';
    case 'tool_use':
      return `{"type":"tool_use","id":${jsonString(block.id)},"name":${jsonString(block.name)},"input":{}}`;
    default: {
      const never: never = block;
      return never;
    }
  }
}

/** Members of the deltas of a block. */
function deltas(block: ReplyBlock): string[] {
  switch (block.type) {
    case 'thinking':
      return [
        ...pieces(block.thinking).map((piece) => `"type":"thinking_delta","thinking":${jsonString(piece)}`),
        `"type":"signature_delta","signature":${jsonString(block.signature)}`,
      ];
    case 'text':
      return pieces(block.text).map((piece) => `"type":"text_delta","text":${jsonString(piece)}`);
    case 'tool_use':
      return pieces(block.inputJson).map((piece) => `"type":"input_json_delta","partial_json":${jsonString(piece)}`);
    default: {
      const never: never = block;
      return never;
    }
  }
}
