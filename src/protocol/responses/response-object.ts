import type { ConvertedRequest, EngineAnswer, EngineUsage } from '../conversation.ts';
import { type JsonFragment, joinFragments, jsonString } from '../json/fragment.ts';
import { singleLine } from '../sse.ts';

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
  /** What all states repeat of the request: it holds every tool. */
  readonly repeated: Repeated;
}

/** The end of a response: members with a comma before each, as the client spelled them, and with the same value as {@link singleLine}. */
export interface Repeated {
  readonly text: Buffer;
  readonly line: Buffer;
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
export function responseObject(head: ResponseHead, state: ResponseState): Buffer {
  return joinFragments([ownMembers(head, state), head.repeated.text]);
}

/** {@link responseObject} as one line of an event stream. */
export function responseLine(head: ResponseHead, state: ResponseState): readonly JsonFragment[] {
  return [singleLine(ownMembers(head, state)), head.repeated.line];
}

/** A finished {@link responseObject} of this head, read back, as one line of an event stream. */
export function finishedLine({ repeated }: ResponseHead, json: Buffer): readonly JsonFragment[] {
  const own = json.toString('utf8', 0, json.length - repeated.text.length);
  return [singleLine(own), repeated.line];
}

/** The object up to what it repeats of the request. */
function ownMembers(head: ResponseHead, state: ResponseState): string {
  return (
    `{"id":${jsonString(head.id)},"object":"response","created_at":${head.createdS},"status":"${state.status}",` +
    `"background":false,"error":${errorJson(state.error)},"incomplete_details":${incompleteJson(state.incompleteReason)},` +
    `"model":${jsonString(head.model)},"output":[${state.output.join(',')}],"previous_response_id":null,` +
    `"usage":${state.usage === null ? 'null' : usageJson(state.usage)}`
  );
}

type RepeatedMembers = ConvertedRequest['replyContext']['repeated'];

/** What a Response repeats, once for all that is rendered with these members. */
export function repeatedOf(members: RepeatedMembers): Repeated {
  let repeated = REPEATED_TEXTS.get(members);
  if (repeated === undefined) {
    let text = '';
    // Their names are ours.
    for (const [name, json] of members) text += `,"${name}":${json}`;
    text += '}';
    repeated = { text: Buffer.from(text), line: Buffer.from(singleLine(text)) };
    REPEATED_TEXTS.set(members, repeated);
  }
  return repeated;
}

const REPEATED_TEXTS = new WeakMap<RepeatedMembers, Repeated>();

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
