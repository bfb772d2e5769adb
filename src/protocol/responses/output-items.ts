import type { ConvertedRequest, EngineAnswer, EngineToolCall, ReplyOptions } from '../conversation.ts';
import { customInput } from '../custom-tool.ts';
import { madeId } from '../ids.ts';
import { jsonString } from '../json/fragment.ts';
import { objectText } from '../json/object-text.ts';
import { sealReasoning } from '../seal.ts';
import { servedTool } from './tool-names.ts';

/** `completed`, or `incomplete` for what the engine was cut off at. */
type ItemStatus = 'completed' | 'incomplete';

/**
 * The output items of an answer as JSON: reasoning, message, calls, in this order (C80 to C105). An answer without text has no message item, an
 * empty answer no item at all. Where the engine did not finish, the last item is incomplete.
 */
export function outputItems(
  request: ConvertedRequest,
  answer: EngineAnswer,
  options: ReplyOptions,
  finished: boolean,
): string[] {
  const items: ((status: ItemStatus) => string)[] = [];
  const { reasoning } = answer;
  if (reasoning !== null && !options.hideReasoning)
    items.push((status) => reasoningItem(reasoning, request.replyContext.encryptedReasoning, status, options));
  const parts = contentParts(answer, request.replyContext.refusalAsText);
  if (parts.length > 0)
    items.push((status) => {
      const id = madeId('msg', options.callId);
      return `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${parts.join(',')}]}`;
    });
  answer.toolCalls.forEach((call, index) => {
    items.push((status) => callItem(request, call, madeIdOf(options.callId, index), status));
  });
  return items.map((item, at) => item(finished || at < items.length - 1 ? 'completed' : 'incomplete'));
}

/** The text stands in all places from which clients echo it. */
function reasoningItem(text: string, encrypted: boolean, status: ItemStatus, options: ReplyOptions): string {
  const json = jsonString(text);
  const sealed = encrypted ? `,"encrypted_content":${jsonString(sealReasoning(text))}` : '';
  return (
    `{"id":"${madeId('rs', options.callId)}","type":"reasoning","summary":[{"type":"summary_text","text":${json}}],` +
    `"content":[{"type":"reasoning_text","text":${json}}]${sealed},"status":"${status}"}`
  );
}

function contentParts(answer: EngineAnswer, refusalAsText: boolean): string[] {
  const parts: string[] = [];
  if (answer.content !== null && answer.content !== '') parts.push(textPart(answer.content));
  if (answer.refusal !== null && answer.refusal !== '')
    parts.push(refusalAsText ? textPart(answer.refusal) : `{"type":"refusal","refusal":${jsonString(answer.refusal)}}`);
  return parts;
}

function textPart(text: string): string {
  return `{"type":"output_text","text":${jsonString(text)},"annotations":[],"logprobs":[]}`;
}

type CallItemId = (prefix: 'fc' | 'ctc' | 'tsc') => string;

function madeIdOf(callId: string, index: number): CallItemId {
  return (prefix) => madeId(prefix, callId, index);
}

/** A call in the form of the client's own tool; one of a name that the client does not know is served as it is (C27, C30). */
function callItem(request: ConvertedRequest, call: EngineToolCall, id: CallItemId, status: ItemStatus): string {
  const tool = servedTool(request.replyContext.clientTools, call.name);
  const kind = tool?.kind ?? 'function';
  const callId = jsonString(call.id);
  const name = jsonString(tool?.name ?? call.name);
  const namespace = tool?.namespace == null ? '' : `,"namespace":${jsonString(tool.namespace)}`;
  switch (kind) {
    case 'function':
      return (
        `{"id":"${id('fc')}","type":"function_call","status":"${status}","call_id":${callId},"name":${name}${namespace},` +
        `"arguments":${jsonString(call.arguments)}}`
      );
    case 'custom':
      return (
        `{"id":"${id('ctc')}","type":"custom_tool_call","status":"${status}","call_id":${callId},"name":${name}${namespace},` +
        `"input":${jsonString(customInput(call.arguments))}}`
      );
    case 'tool_search':
      return (
        `{"id":"${id('tsc')}","type":"tool_search_call","status":"${status}","call_id":${callId},"execution":"client",` +
        `"arguments":${searchArguments(call.arguments)}}`
      );
    default:
      return kind satisfies never;
  }
}

/** A search's arguments are an object, not its text. What is no object, or too deep for a client, stays a string, and is read back as that. */
function searchArguments(text: string): string {
  return text.trim() === '' ? '{}' : (objectText(text) ?? jsonString(text));
}
