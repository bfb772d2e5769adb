import type { ConvertedRequest, EngineAnswer, EngineUsage } from '../conversation.ts';
import { fragmentText, jsonString } from '../json/fragment.ts';

/** What sets one state of a response apart from another. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  /** The items as JSON. */
  readonly output: readonly string[];
  readonly incompleteReason: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Null: no usage yet. */
  readonly usage: EngineUsage | null;
}

/** What all states of a response have in common. */
export interface ResponseHead {
  readonly id: string;
  readonly createdS: number;
  readonly model: string;
  /** {@link repeatedText} of the request: once for all states, it holds every tool. */
  readonly repeated: string;
}

export const IN_PROGRESS: ResponseState = {
  status: 'in_progress',
  output: [],
  incompleteReason: null,
  error: null,
  usage: null,
};

const NO_USAGE: EngineUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

/** Usage of an answer, complete even where the engine counted nothing: clients need integers (C92). */
export function usageOf(answer: EngineAnswer): EngineUsage {
  return answer.usage ?? NO_USAGE;
}

/** A complete Response object with every member that strict clients want (clients.md 1.1). */
export function responseObject(head: ResponseHead, state: ResponseState): string {
  return (
    `{"id":${jsonString(head.id)},"object":"response","created_at":${head.createdS},"status":"${state.status}",` +
    `"background":false,"error":${errorJson(state.error)},"incomplete_details":${incompleteJson(state.incompleteReason)},` +
    `"model":${jsonString(head.model)},"output":[${state.output.join(',')}],"previous_response_id":null,` +
    `"usage":${state.usage === null ? 'null' : usageJson(state.usage)}${head.repeated}}`
  );
}

/** Members that a Response repeats, each with a comma before it; their names are ours. */
export function repeatedText(repeated: ConvertedRequest['replyContext']['repeated']): string {
  let text = '';
  for (const [name, json] of repeated) text += `,"${name}":${fragmentText(json)}`;
  return text;
}

function errorJson(error: ResponseState['error']): string {
  return error === null ? 'null' : `{"code":${jsonString(error.code)},"message":${jsonString(error.message)}}`;
}

function incompleteJson(reason: string | null): string {
  return reason === null ? 'null' : `{"reason":${jsonString(reason)}}`;
}

function usageJson(usage: EngineUsage): string {
  return (
    `{"input_tokens":${usage.promptTokens},"input_tokens_details":{"cached_tokens":${usage.cachedTokens},"cache_write_tokens":0},` +
    `"output_tokens":${usage.completionTokens},"output_tokens_details":{"reasoning_tokens":${usage.reasoningTokens}},` +
    `"total_tokens":${usage.promptTokens + usage.completionTokens}}`
  );
}
