import type {
  AssistantMessage,
  ConvertedRequest,
  EngineAnswer,
  EngineToolCall,
  RenderedReply,
  ReplyOptions,
} from '../conversation.ts';
import { isRefusal } from '../conversation.ts';
import { customArguments, customInput } from '../custom-tool.ts';
import { jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../json/parse-json.ts';
import { onlyTextOf, textTurn } from '../text-turn.ts';
import { readAssistant } from './read-assistant.ts';

/**
 * The engine's answer as a complete Chat completion (protocol sections 2 and 7): the fields written here and no others. `created` is in seconds.
 */
export function upstreamToChat(request: ConvertedRequest, answer: EngineAnswer, options: ReplyOptions): RenderedReply {
  const message = messageJson(request, answer, options);
  const choice = `{"index":0,"message":${message},"logprobs":null,"finish_reason":${jsonString(answer.finishReason)}}`;
  const json = `{${envelopeMembers('chat.completion', request, answer)},"choices":[${choice}],"usage":${usageJson(answer)}}`;
  return {
    responseId: answer.id,
    json: Buffer.from(json),
    outputItems: outputItems(request, answer),
    turn: echoOf(message, answer),
    status: null,
    finishReason: answer.finishReason,
  };
}

/** What a message that was rendered here converts to when a client sends it back. */
function echoOf(message: string, answer: EngineAnswer): AssistantMessage {
  const text = onlyTextOf(answer);
  if (text !== null) return textTurn(text, []);
  const turn = readAssistant(ownJson(message), 'message');
  if (isRefusal(turn)) throw new Error(`a rendered message does not convert back: ${turn.message}`);
  return { ...turn, verbatim: undefined };
}

/** Members that the reply and each chunk of its stream begin with. The model is the one that the client asked for: some clients compare. */
export function envelopeMembers(object: string, request: ConvertedRequest, answer: EngineAnswer): string {
  const model = jsonString(request.model ?? answer.model);
  return `"id":${jsonString(answer.id)},"object":"${object}","created":${answer.createdS},"model":${model}`;
}

/** `usage`, always complete: clients need integers (C92). */
export function usageJson(answer: EngineAnswer): string {
  const usage = answer.usage ?? { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  return (
    `{"prompt_tokens":${usage.promptTokens},"completion_tokens":${usage.completionTokens},` +
    `"total_tokens":${usage.promptTokens + usage.completionTokens},` +
    `"prompt_tokens_details":{"cached_tokens":${usage.cachedTokens}},` +
    `"completion_tokens_details":{"reasoning_tokens":${usage.reasoningTokens}}}`
  );
}

/** Content as served: an empty answer has the empty text, a turn of calls what the engine said. */
export function servedContent(answer: EngineAnswer): string | null {
  const silent = answer.toolCalls.length === 0 && answer.refusal === null;
  return answer.content ?? (silent ? '' : null);
}

/** The names under which reasoning is served; none where there is none or it is hidden. */
export function reasoningNames(answer: EngineAnswer, options: ReplyOptions): readonly string[] {
  if (answer.reasoning === null || options.hideReasoning) return [];
  return options.chatReasoningKey === 'both' ? ['reasoning', 'reasoning_content'] : [options.chatReasoningKey];
}

export function isCustomCall(request: ConvertedRequest, call: EngineToolCall): boolean {
  return request.replyContext.clientTools.get(call.name)?.kind === 'custom';
}

function messageJson(request: ConvertedRequest, answer: EngineAnswer, options: ReplyOptions): string {
  const content = servedContent(answer);
  const members = [
    '"role":"assistant"',
    `"content":${content === null ? 'null' : jsonString(content)}`,
    `"refusal":${answer.refusal === null ? 'null' : jsonString(answer.refusal)}`,
    ...reasoningNames(answer, options).map((name) => `"${name}":${jsonString(answer.reasoning ?? '')}`),
  ];
  if (answer.toolCalls.length > 0)
    members.push(`"tool_calls":[${answer.toolCalls.map((call) => toolCallJson(request, call)).join(',')}]`);
  return `{${members.join(',')}}`;
}

function toolCallJson(request: ConvertedRequest, call: EngineToolCall): string {
  const id = jsonString(call.id);
  const name = jsonString(call.name);
  if (isCustomCall(request, call)) return customCallJson(id, call.name, call.arguments);
  return `{"id":${id},"type":"function","function":{"name":${name},"arguments":${jsonString(call.arguments)}}}`;
}

/** A call of a custom tool, of which the engine made a function call. `id`: as JSON. */
export function customCallJson(id: string, name: string, argumentsText: string): string {
  return `{"id":${id},"type":"custom","custom":{"name":${jsonString(name)},"input":${jsonString(customInput(argumentsText))}}}`;
}

/**
 * What the reply counts as (section 7): a message item if it has text, then one item per call, of a custom tool with the arguments that its input comes to: of the engine's
 * own nothing else is served. Reasoning gives none.
 */
function outputItems(request: ConvertedRequest, answer: EngineAnswer): JsonNode[] {
  const items: string[] = [];
  if (answer.content !== null && answer.content !== '')
    items.push(
      `{"type":"message","id":null,"role":"assistant","content":[{"type":"output_text","text":${jsonString(answer.content)}}]}`,
    );
  for (const call of answer.toolCalls) {
    const served = isCustomCall(request, call) ? customArguments(customInput(call.arguments)) : call.arguments;
    items.push(
      `{"type":"function_call","id":${jsonString(call.id)},"call_id":${jsonString(call.id)},` +
        `"name":${jsonString(call.name)},"arguments":${jsonString(served)}}`,
    );
  }
  return items.map(ownJson);
}

/** Parses JSON that was written here. */
function ownJson(text: string): JsonNode {
  const node = parseJsonText(text);
  if (isJsonProblem(node)) throw new Error(`own JSON does not parse: ${node.problem}`);
  return node;
}
