import { type EnginePart, isRefusal, type RequestRefusal, type SystemMessage } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { Memo, type Memorable, NOTHING_ELSE } from '../json/memo.ts';
import { readMemo } from '../read-memo.ts';
import { collapse, contentParts, type FoldedContent, textPart } from './fold-content.ts';

/** Several system texts that each are one text stand apart by a blank line, as instructions and developer messages of Responses do (C17). */
const SYSTEM_JOINT = '\n\n';

/**
 * A first block that names the client's version for billing: it changes from conversation to conversation, so it would break every prefix
 * (C65). Nothing but `name=value;` pairs after the header's name is one; any other text that begins alike is the agent's own.
 */
const BILLING_HEADER = /^x-anthropic-billing-header:(?:[ \t]*[\w.-]+=[^;\r\n]*;)+(?:[ \t]*[\w.-]+=[^;\s]*)?\s*$/;

/** One text, or list of parts, of the system. */
export interface SystemContent extends Memorable {
  readonly content: FoldedContent;
}

const NO_CONTENT: SystemContent = { content: '' };
const PROMPTS = readMemo<SystemContent>();

/** The `system` member without its billing header. */
export function systemContent(system: JsonNode | undefined): SystemContent | RequestRefusal {
  return system === undefined ? NO_CONTENT : PROMPTS.of(system, NOTHING_ELSE, () => readPrompt(system));
}

function readPrompt(system: JsonNode): SystemContent | RequestRefusal {
  const parts = contentParts(system, 'system', 'system');
  if (isRefusal(parts)) return parts;
  const [first] = parts;
  const billed = first?.type === 'text' && BILLING_HEADER.test(first.text);
  return { content: collapse(billed ? parts.slice(1) : parts) };
}

/** The one system message of the prompt and of the system messages before all others; null where nothing is said. */
export function systemMessage(contents: readonly SystemContent[]): SystemMessage | null {
  const said = contents.filter(({ content }) => content !== '');
  const [first] = said;
  return first === undefined ? null : MESSAGES.of(first, said, () => joined(said.map(({ content }) => content)));
}

const MESSAGES = new Memo<SystemMessage>();

function joined(said: readonly FoldedContent[]): SystemMessage {
  if (said.length === 1) return { role: 'system', content: said[0] as FoldedContent };
  const content = said.every((one) => typeof one === 'string') ? said.join(SYSTEM_JOINT) : said.flatMap(asParts);
  return { role: 'system', content };
}

function asParts(content: FoldedContent): readonly EnginePart[] {
  return typeof content === 'string' ? [textPart(content)] : content;
}
