import type { AssistantMessage, EngineMessage, EnginePart } from '../protocol/conversation.ts';
import { canonicalArguments } from './canonical-json.ts';
import { formDigest } from './digest.ts';
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
  switch (message.role) {
    case 'system':
    case 'user':
      return plainItem(message.role, `${message.role}${nameForm(message.name)}${contentForm(message.content)}`);
    case 'tool':
      return plainItem('tool', `tool${framed('i', message.toolCallId)}${contentForm(message.content)}`);
    case 'assistant':
      return assistantItem(message, policy);
    default:
      return unreachable(message);
  }
}

function plainItem(role: 'system' | 'user' | 'tool', form: string): EvidenceItem {
  return { role, digest: formDigest(form), emptyToolContentDigest: null, reasoningDigest: null };
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

/** A string is the list of one text part; so is the empty list, with an empty text. Several text parts stay a list. */
function contentForm(content: string | readonly EnginePart[]): string {
  if (typeof content === 'string') return framed('t', content);
  const [first] = content;
  if (first === undefined) return EMPTY_TEXT;
  if (content.length === 1 && first.type === 'text') return framed('t', first.text);
  let out = `l${content.length}:`;
  for (const part of content) out += part.type === 'text' ? framed('t', part.text) : framed('m', mediaForm(part));
  return out;
}

function nameForm(name: string | undefined): string {
  return name === undefined || name === '' ? '' : framed('w', name);
}

function framed(tag: string, text: string): string {
  return `${tag}${text.length}:${text}`;
}

function unreachable(message: never): never {
  throw new Error(`unknown role: ${JSON.stringify(message)}`);
}
