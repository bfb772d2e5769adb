import type { AssistantMessage, ConvertedRequest, EngineAnswer, RenderedReply, ReplyOptions } from '../conversation.ts';
import { UNFINISHED_REASONS } from '../engine-answer.ts';
import { madeId } from '../ids.ts';
import type { JsonNode } from '../json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../json/parse-json.ts';
import { onlyTextOf, textTurn } from '../text-turn.ts';
import { foldServedItems } from './fold-input.ts';
import { outputItems } from './output-items.ts';
import { type ResponseHead, type ResponseState, repeatedOf, responseObject, usageOf } from './response-object.ts';
import { toolNames } from './tool-names.ts';

/** The engine's answer as a complete Response object (protocol section 2, conversion-cases 6.D). `created_at` is in seconds. */
export function chatToResponses(request: ConvertedRequest, answer: EngineAnswer, options: ReplyOptions): RenderedReply {
  const head = responseHead(request, answer, options);
  const { status, reason } = outcome(answer.finishReason);
  const state: ResponseState = {
    status,
    output: outputItems(request, answer, options, status === 'completed'),
    incompleteReason: reason,
    error: status === 'failed' ? { code: 'server_error', message: 'The engine did not finish the answer.' } : null,
    usage: usageOf(answer),
  };
  const json = responseObject(head, state);
  const items = servedItems(state.output);
  return {
    responseId: head.id,
    json,
    outputItems: items,
    turn: echoedTurn(request, answer, items),
    status,
    finishReason: reason,
  };
}

/** The served id is the engine's under capture: it is the join key (section 2). */
export function responseHead(request: ConvertedRequest, answer: EngineAnswer, options: ReplyOptions): ResponseHead {
  return {
    id: options.captured ? answer.id : madeId('resp', options.callId),
    createdS: answer.createdS,
    model: request.model ?? answer.model,
    repeated: repeatedOf(request.replyContext.repeated),
  };
}

/** An answer that the engine broke off is a failed one, with its reason; it is recorded, and the agent gets an error (section 6). */
function outcome(finishReason: string): { status: 'completed' | 'incomplete' | 'failed'; reason: string | null } {
  if (UNFINISHED_REASONS.has(finishReason)) return { status: 'failed', reason: finishReason };
  if (finishReason === 'length') return { status: 'incomplete', reason: 'max_output_tokens' };
  if (finishReason === 'content_filter') return { status: 'incomplete', reason: 'content_filter' };
  return { status: 'completed', reason: null };
}

function servedItems(output: readonly string[]): readonly JsonNode[] {
  const items = parseJsonText(`[${output.join(',')}]`);
  if (isJsonProblem(items)) throw new Error(`rendered items are no JSON: ${items.problem}`);
  return items.elements();
}

const NO_TURN = textTurn('', []);

/** What a faithful echo of these items converts to. An empty answer leaves nothing to echo: its turn says nothing. */
function echoedTurn(request: ConvertedRequest, answer: EngineAnswer, items: readonly JsonNode[]): AssistantMessage {
  const text = onlyTextOf(answer);
  if (text !== null) return textTurn(text, [items[0]?.get('id')?.string() as string]);
  const messages = foldServedItems(items, toolNames(request.replyContext.clientTools));
  const turn = messages[0] ?? NO_TURN;
  if (messages.length > 1 || turn.role !== 'assistant')
    throw new Error('a served reply reads back as more than one turn');
  return turn;
}
