import type {
  AssistantMessage,
  ConvertedRequest,
  EngineAnswer,
  EngineUsage,
  RenderedReply,
  ReplyOptions,
} from '../conversation.ts';
import { isRefusal } from '../conversation.ts';
import { madeId } from '../ids.ts';
import { jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { isJsonProblem, parseJson } from '../json/parse-json.ts';
import { onlyTextOf, textTurn } from '../text-turn.ts';
import { foldAssistant } from './fold-assistant.ts';
import { type ReplyBlock, replyBlocks, stopOf } from './reply-blocks.ts';
import { messageItem, outputCallItem } from './to-responses-items.ts';
import { rawDeclarations } from './tools.ts';

/** The engine's answer as a Message object. */
export function chatToMessages(request: ConvertedRequest, answer: EngineAnswer, options: ReplyOptions): RenderedReply {
  const blocks = replyBlocks(answer, options);
  const { stopReason, stopSequence } = stopOf(answer);
  const responseId = envelopeId(answer, options);
  const json = Buffer.from(
    messageJson({
      id: responseId,
      model: replyModel(request, answer),
      content: blocks.map(blockJson),
      stopReason,
      stopSequence,
      usage: usageJson(answer.usage),
    }),
  );
  const text = onlyTextOf(answer);
  const turn = text === null ? echoedTurn(json, request) : textTurn(text, []);
  return {
    responseId,
    json,
    outputItems: outputItems(blocks, turn),
    turn,
    status: null,
    finishReason: stopReason,
  };
}

/** Under capture the engine's completion id, else one made from the call's (protocol section 2). */
export function envelopeId(answer: EngineAnswer, options: ReplyOptions): string {
  return options.captured ? answer.id : madeId('msg', options.callId);
}

export function replyModel(request: ConvertedRequest, answer: EngineAnswer): string {
  return request.model ?? answer.model;
}

export interface MessageParts {
  readonly id: string;
  readonly model: string;
  /** JSON of the blocks. */
  readonly content: readonly string[];
  /** Null while the answer is streamed. */
  readonly stopReason: string | null;
  readonly stopSequence: string | null;
  readonly usage: string;
}

/** A Message object. What the published types call nullable and no client needs is left out: some validate it and refuse null. */
export function messageJson(parts: MessageParts): string {
  return (
    `{"id":${jsonString(parts.id)},"type":"message","role":"assistant","model":${jsonString(parts.model)},` +
    `"content":[${parts.content.join(',')}],${stopJson(parts)},"usage":${parts.usage}}`
  );
}

/** The members that say why an answer ended, without braces. */
export function stopJson(stop: Pick<MessageParts, 'stopReason' | 'stopSequence'>): string {
  return `"stop_reason":${JSON.stringify(stop.stopReason)},"stop_sequence":${JSON.stringify(stop.stopSequence)},"stop_details":null`;
}

/** `input_tokens` leaves out what came from the cache (C93). */
export function usageJson(usage: EngineUsage | null, outputTokens = usage?.completionTokens ?? 0): string {
  const prompt = usage?.promptTokens ?? 0;
  const cached = Math.min(usage?.cachedTokens ?? 0, prompt);
  const thinking = usage?.reasoningTokens ?? 0;
  const details = thinking > 0 && outputTokens > 0 ? `,"output_tokens_details":{"thinking_tokens":${thinking}}` : '';
  return (
    `{"input_tokens":${prompt - cached},"cache_creation_input_tokens":0,"cache_read_input_tokens":${cached},` +
    `"output_tokens":${outputTokens}${details}}`
  );
}

function blockJson(block: ReplyBlock): string {
  switch (block.type) {
    case 'thinking':
      return `{"type":"thinking","thinking":${jsonString(block.thinking)},"signature":${jsonString(block.signature)}}`;
    case 'text':
      return `{"type":"text","text":${jsonString(block.text)}}`;
    case 'tool_use':
      return `{"type":"tool_use","id":${jsonString(block.id)},"name":${jsonString(block.name)},"input":${block.inputJson}}`;
    default: {
      const never: never = block;
      return never;
    }
  }
}

/** What a faithful echo converts to: the reply is read back as the next request would be (protocol section 3). */
function echoedTurn(reply: Buffer, request: ConvertedRequest): AssistantMessage {
  const parsed = parseJson(reply);
  if (isJsonProblem(parsed)) throw new Error(`a reply of ours is no JSON: ${parsed.problem}`);
  const turn = foldAssistant(parsed.get('content'), 'content', rawDeclarations(request.fields.get('tools')));
  if (isRefusal(turn)) throw new Error(`a reply of ours cannot be echoed: ${turn.message}`);
  return turn;
}

/** One message item if there is text, then one item per call; reasoning has none (protocol section 7). */
function outputItems(blocks: readonly ReplyBlock[], turn: AssistantMessage): JsonNode[] {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return [...(texts.length === 0 ? [] : [messageItem(texts)]), ...turn.toolCalls.map(outputCallItem)];
}
