import type { JsonFragment } from './json/fragment.ts';
import type { JsonNode } from './json/json-node.ts';
import type { Memorable } from './json/memo.ts';

/** The dialects that agents speak. */
export type Dialect = 'responses' | 'chat' | 'messages';

/** Roles as the engine sees them: `developer` has become `system` (or `user`, late in a Responses or Messages history). */
export type EngineRole = 'system' | 'user' | 'assistant' | 'tool';

/** One part of a message that is not plain text. */
export type EnginePart =
  | { readonly type: 'text'; readonly text: string }
  /** An image, file, audio or video reference. `json` is the upstream part; it is evidence as a whole, by value. */
  | { readonly type: 'media'; readonly kind: string; readonly json: JsonFragment };

export interface EngineToolCall {
  /** The engine's id, verbatim; "" where the client sent none. */
  readonly id: string;
  /** The flat name that the engine knows (`namespace__name` for a namespaced tool). */
  readonly name: string;
  /** Arguments as the client sent them (evidence), JSON or not. */
  readonly arguments: string;
}

/**
 * One message of the conversation as converted for the engine (protocol section 3): the form in which histories are compared, and
 * from which the upstream message is built. `verbatim` holds the client's own bytes of the whole upstream message where the
 * conversion changes nothing; the builder sends them as they are. `textNode` is the JSON string that `content` is the text of, where it is a single text of
 * the client's: evidence can be taken from its bytes, and `content` need not be decoded.
 */
export type EngineMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export interface SystemMessage extends Memorable {
  readonly role: 'system';
  readonly content: string | readonly EnginePart[];
  readonly name?: string | undefined;
  readonly verbatim?: Uint8Array | undefined;
  readonly textNode?: JsonNode | undefined;
}

export interface UserMessage extends Memorable {
  readonly role: 'user';
  readonly content: string | readonly EnginePart[];
  readonly name?: string | undefined;
  readonly verbatim?: Uint8Array | undefined;
  readonly textNode?: JsonNode | undefined;
}

export interface AssistantMessage extends Memorable {
  readonly role: 'assistant';
  /** Several text parts are already joined. A list only where a part is no text. Null, absent and [] beside calls are null. */
  readonly content: string | null | readonly EnginePart[];
  /** Null where there is none or only white space. */
  readonly reasoning: string | null;
  readonly refusal: string | null;
  readonly toolCalls: readonly EngineToolCall[];
  /** Every id that stands in this turn as the client sent it: item ids and call ids. Settles ambiguity, is no evidence. */
  readonly echoedIds: readonly string[];
  readonly verbatim?: Uint8Array | undefined;
}

export interface ToolMessage extends Memorable {
  readonly role: 'tool';
  readonly content: string | readonly EnginePart[];
  readonly toolCallId: string;
  readonly verbatim?: Uint8Array | undefined;
  readonly textNode?: JsonNode | undefined;
}

/** How a flat engine tool name goes back to the client (Responses only; Chat and Messages tools keep their names). */
export interface ClientTool {
  readonly kind: 'function' | 'custom' | 'tool_search';
  readonly name: string;
  readonly namespace: string | null;
}

/** A request of any dialect, converted. What the steps of a call need to know of it, and nothing of its shape. */
export interface ConvertedRequest {
  readonly dialect: Dialect;
  /** The model that the client asked for. */
  readonly model: string | null;
  readonly stream: boolean;
  /** Chat: `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  readonly messages: readonly EngineMessage[];
  /** Name of the member of the body that holds all `messages`, one for one, each `verbatim`: it can go up as one piece. Null where none does. */
  readonly verbatimMember: string | null;
  /**
   * Top-level members of the upstream Chat body beside `model`, `messages`, `stream` and what capture adds, in order, as JSON.
   * Only what the allow-list of the dialect maps; nulls of render keys are left out.
   */
  readonly fields: ReadonlyMap<string, JsonFragment>;
  /** Items as the agent sent them, for the fingerprints of sections 8 and 13 (Messages: as Responses items). */
  readonly fingerprintItems: readonly JsonNode[];
  /** Names of members that were dropped because an agent must not say them (section 2, strip list); one entry per member. */
  readonly stripped: readonly string[];
  /** Top-level names that stand in no list of the dialect (`unknownNames`): not sent up, but told to the log. */
  readonly ignored: readonly string[];
  /** What the reply repeats or depends on, private to the dialect's own renderer. */
  readonly replyContext: ReplyContext;
}

/** What a dialect's renderer must remember of the request. */
export interface ReplyContext {
  /** Members of the request that a Response object repeats (`instructions`, `tools`, `metadata`, ...), as JSON by name. */
  readonly repeated: ReadonlyMap<string, string>;
  /** Engine tool name -> the client's tool. Names that are missing are served as they are. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  /** Serve `encrypted_content` on reasoning items. */
  readonly encryptedReasoning: boolean;
  /** The client is one that drops messages with a `refusal` part (Codex): serve it as output text. */
  readonly refusalAsText: boolean;
}

/** A request that is refused before inference; nothing is recorded. The field is named in `message`, and in `param` for OpenAI dialects. */
export interface RequestRefusal {
  readonly refused: true;
  /** String code, such as `invalid_request`, `unsupported_field`. */
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** What clients of the Messages dialect act on beside the words: `error.details`. */
  readonly details?: object | undefined;
}

export function isRefusal(value: object): value is RequestRefusal {
  return (value as { refused?: unknown }).refused === true;
}

/** Facts about a call and the configuration that conversions depend on. */
export interface ConversionOptions {
  /** Captured calls refuse more (section 2). */
  readonly captured: boolean;
  /** `user-agent` of the request, for the few quirks that hang on the client. */
  readonly userAgent: string;
  readonly allowChatTemplate: boolean;
  /** `reasoning.encrypted: always`. */
  readonly alwaysEncryptReasoning: boolean;
  /** `lineage.reasoning: hidden`: no reasoning is served. */
  readonly hideReasoning: boolean;
  /** `reasoning.chat_key`: the name(s) under which Chat replies carry reasoning. */
  readonly chatReasoningKey: 'reasoning' | 'reasoning_content' | 'both';
}

/** The worker's answer, reduced to what may reach an agent: no tokens, no log probabilities, no coordinates. */
export interface EngineAnswer {
  /** The engine's completion id. */
  readonly id: string;
  readonly model: string;
  /** Seconds since the epoch, an integer. */
  readonly createdS: number;
  readonly content: string | null;
  /** Null where there is none or only white space. */
  readonly reasoning: string | null;
  readonly refusal: string | null;
  /** Ids are the engine's; where it sent none, one is made from the call id. */
  readonly toolCalls: readonly EngineToolCall[];
  /** `stop`, `length`, `tool_calls`, `content_filter`, `abort`, or another word of the engine's. Null was settled (C90). */
  readonly finishReason: string;
  /** The stop string that ended the answer, where the engine names one (vLLM's `stop_reason`; a number there is a token and left out). */
  readonly stopSequence?: string | undefined;
  readonly usage: EngineUsage | null;
}

export interface EngineUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}

/** A finished answer in the asked dialect, rendered in full before anything is sent. */
export interface RenderedReply {
  /** The envelope id that the agent sees. */
  readonly responseId: string;
  /** The complete JSON object. */
  readonly json: Buffer;
  /** The items as served, for `output_items` and fingerprints (section 7): Responses items, or their equivalent for Chat and Messages. */
  readonly outputItems: readonly JsonNode[];
  /** What a faithful echo of this reply converts to: the assistant turn of `replay` (section 3). */
  readonly turn: AssistantMessage;
  /** `status` of the reply as the dialect has it, `failed` where `error` is set, or null (section 7). */
  readonly status: string | null;
  /** First string among `stop_reason`, first choice's `finish_reason`, `incomplete_details.reason` of the reply as served. */
  readonly finishReason: string | null;
}

/** What rendering needs beside the request and the answer. All of it is known again to a re-send, so that it gets the same ids. */
export interface ReplyOptions {
  /** Item ids are made from it, so the same call always renders the same bytes. */
  readonly callId: string;
  readonly captured: boolean;
  readonly chatReasoningKey: 'reasoning' | 'reasoning_content' | 'both';
  readonly hideReasoning: boolean;
}

/** The pair of conversions of one dialect, and its streams. Pure; each lives in its own folder. */
export interface DialectConverter {
  /** Agent's request to the upstream Chat body's parts, or a refusal that names the field. `body` is any JSON value. */
  convert(body: JsonNode, options: ConversionOptions): ConvertedRequest | RequestRefusal;
  /** The engine's answer as a complete object of the dialect. */
  render(request: ConvertedRequest, answer: EngineAnswer, options: ReplyOptions): RenderedReply;
  /** All bytes of the event stream that carries the same reply, from the first event to the last. */
  stream(request: ConvertedRequest, answer: EngineAnswer, reply: RenderedReply, options: ReplyOptions): Buffer;
}
