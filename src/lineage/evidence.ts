import type {
  AssistantMessage,
  EngineMessage,
  EnginePart,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from '../protocol/conversation.ts';
import { Memo } from '../protocol/json/memo.ts';
import { canonicalArguments } from './canonical-json.ts';
import { formDigest, textFormDigest } from './digest.ts';
import { mediaForm } from './media-form.ts';
import type { EvidenceItem, ReasoningPolicy } from './types.ts';

/**
 * Evidence of one message (protocol section 3): two messages that render the same prompt have the same digest, any other difference gives
 * another one. The digest covers the *form* of the message, a framed string in which every text stands behind its length, so that no text can
 * look like structure and nothing needs escaping.
 *
 * Part of it: role, text to the byte, reasoning (by policy), refusal, media by value, call ids, call names, arguments by JSON value, order, the
 * `name` of system and user messages. Not part of it: item ids, the `name` that some frameworks stick on assistant turns.
 */
export function evidenceOf(message: EngineMessage, policy: ReasoningPolicy): EvidenceItem {
  return TAKEN.of(message, POLICIES[policy], () => takeEvidence(message, policy));
}

/** Messages of a history that came before are the same objects. */
const TAKEN = new Memo<EvidenceItem>();
const POLICIES: Readonly<Record<ReasoningPolicy, readonly unknown[]>> = {
  required: ['required'],
  optional: ['optional'],
  hidden: ['hidden'],
};

function takeEvidence(message: EngineMessage, policy: ReasoningPolicy): EvidenceItem {
  switch (message.role) {
    case 'system':
    case 'user':
      return plainItem(message, `${message.role}${nameForm(message.name)}`);
    case 'tool':
      return plainItem(message, `tool${JSON.stringify(message.toolCallId)}`);
    case 'assistant':
      return assistantItem(message, policy);
    default:
      return unreachable(message);
  }
}

/** A single text stands at the end of the form as its JSON string, so that the client's own bytes can be hashed as they came. */
function plainItem(message: SystemMessage | UserMessage | ToolMessage, head: string): EvidenceItem {
  return {
    role: message.role,
    digest: plainDigest(message, head),
    emptyToolContentDigest: null,
    reasoningDigest: null,
    memo: undefined,
  };
}

function plainDigest(message: SystemMessage | UserMessage | ToolMessage, head: string): string {
  const { textNode } = message;
  if (textNode !== undefined) return textFormDigest(head, textNode);
  const { content } = message;
  const text = typeof content === 'string' ? content : onlyText(content);
  return text === null ? formDigest(head + listForm(content as readonly EnginePart[])) : textFormDigest(head, text);
}

/** The text that a list of parts is the same as: of its only part, or empty for the empty list. */
function onlyText(parts: readonly EnginePart[]): string | null {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? first.text : null;
}

function assistantItem(message: AssistantMessage, policy: ReasoningPolicy): EvidenceItem {
  const reasoning = hasReasoning(message.reasoning) ? message.reasoning : null;
  let rest = reasoning !== null && policy === 'required' ? framed('r', reasoning) : '';
  if (message.refusal !== null && message.refusal !== '') rest += framed('f', message.refusal);
  for (const call of message.toolCalls)
    rest += `${framed('c', call.id)}${framed('n', call.name)}${framed('a', canonicalArguments(call.arguments))}`;
  const content = assistantContentForm(message);
  const digest = formDigest(`assistant${content}${rest}`);
  return {
    role: 'assistant',
    digest,
    emptyToolContentDigest: emptyToolContentDigest(message, content, digest, rest),
    reasoningDigest: reasoning !== null && policy === 'optional' ? formDigest(framed('r', reasoning)) : null,
    memo: undefined,
  };
}

/** The second digest: of a turn with calls and without text, computed with content "". */
function emptyToolContentDigest(
  message: AssistantMessage,
  content: string,
  digest: string,
  rest: string,
): string | null {
  if (message.toolCalls.length === 0) return null;
  if (content === EMPTY_TEXT) return digest;
  return content === NO_CONTENT ? formDigest(`assistant${EMPTY_TEXT}${rest}`) : null;
}

/** Reasoning that is empty or only white space is none. */
export function hasReasoning(reasoning: string | null): reasoning is string {
  return reasoning !== null && /\S/.test(reasoning);
}

const EMPTY_TEXT = framed('t', '');
const NO_CONTENT = '-';

/** Content null, absent and "" are one beside no calls, and two beside calls. Adjacent texts are their concatenation. */
function assistantContentForm(message: AssistantMessage): string {
  const { content } = message;
  if (typeof content === 'string') return framed('t', content);
  if (content === null || content.length === 0) return message.toolCalls.length === 0 ? EMPTY_TEXT : NO_CONTENT;
  return contentForm(joinTexts(content));
}

/** Parts with adjacent texts joined and empty ones dropped. */
export function joinTexts(parts: readonly EnginePart[]): readonly EnginePart[] {
  const joined: EnginePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === 'text' && last?.type === 'text')
      joined[joined.length - 1] = { type: 'text', text: last.text + part.text };
    else joined.push(part);
  }
  return joined.length === 1 ? joined : joined.filter((part) => part.type !== 'text' || part.text !== '');
}

/** Several parts, each behind its length. */
function listForm(content: readonly EnginePart[]): string {
  let out = `l${content.length}:`;
  for (const part of content) out += part.type === 'text' ? framed('t', part.text) : framed('m', mediaForm(part));
  return out;
}

/** A string is the list of one text part; so is the empty list, with an empty text. Several text parts stay a list. */
function contentForm(content: readonly EnginePart[]): string {
  const text = onlyText(content);
  return text === null ? listForm(content) : framed('t', text);
}

function nameForm(name: string | undefined): string {
  return name === undefined || name === '' ? '' : `w${JSON.stringify(name)}`;
}

function framed(tag: string, text: string): string {
  return `${tag}${text.length}:${text}`;
}

function unreachable(message: never): never {
  throw new Error(`unknown role: ${JSON.stringify(message)}`);
}
