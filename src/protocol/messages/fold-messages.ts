import {
  type AssistantMessage,
  type EngineMessage,
  type EnginePart,
  isRefusal,
  type RequestRefusal,
  type UserMessage,
} from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { NOTHING_ELSE } from '../json/memo.ts';
import { readMemo } from '../read-memo.ts';
import { invalid, wrongType } from '../refusals.ts';
import { plainMessage, singleText, userText } from '../single-text.ts';
import { foldAssistant } from './fold-assistant.ts';
import { blockParts, collapse, foldContent } from './fold-content.ts';
import { quoted } from './quoted.ts';
import type { SystemContent } from './system-prompt.ts';
import type { DeclaresRaw } from './tool-input.ts';
import { type ToolResult, ToolRun, toolResult } from './tool-results.ts';

/**
 * `messages` of a request, in the form in which the engine sees them (protocol section 3). Messages are never merged; a user message may
 * become several, since the engine knows tool results as messages of their own. A system message stays in its place: before all others it
 * joins the system prompt (its contents are returned as `leading`), later it goes up as a user message (C16, C71).
 */
export interface FoldedMessages {
  readonly leading: readonly SystemContent[];
  readonly messages: readonly EngineMessage[];
}

export function foldMessages(list: JsonNode | undefined, declaresRaw: DeclaresRaw): FoldedMessages | RequestRefusal {
  if (list === undefined || !list.isArray()) return wrongType('messages', 'an array', list);
  if (list.elements().length === 0) return invalid('messages', 'expected at least one message');
  const fold = new Fold(declaresRaw);
  const messages = list.elements();
  for (let at = 0; at < messages.length; at++) {
    const refusal = fold.add(messages[at] as JsonNode, at);
    if (refusal !== null) return refusal;
  }
  return fold.finish();
}

class Fold {
  private readonly leading: SystemContent[] = [];
  private readonly messages: EngineMessage[] = [];
  private readonly withs: readonly [DeclaresRaw];
  /** Null: no calls and no results since the last message. */
  private run: ToolRun | null = null;

  constructor(declaresRaw: DeclaresRaw) {
    this.withs = [declaresRaw];
  }

  add(message: JsonNode, at: number): RequestRefusal | null {
    if (!message.isObject()) return wrongType(pathOf(at), 'an object', message);
    const role = message.get('role')?.string();
    switch (role) {
      case 'user':
        return this.addUser(message, at);
      case 'assistant':
        return this.addAssistant(message, at);
      case 'system':
      case 'developer':
        return this.addSystem(message, at);
      default:
        return invalid(
          `${pathOf(at)}.role`,
          `the role ${quoted(role)} is not known here; use "user", "assistant" or "system"`,
        );
    }
  }

  finish(): FoldedMessages {
    this.closeRun();
    return { leading: this.leading, messages: this.messages };
  }

  private addAssistant(message: JsonNode, at: number): RequestRefusal | null {
    const { withs } = this;
    const turn = TURNS.known(message, withs) ?? TURNS.keep(message, withs, readTurn(message, pathOf(at), ...withs));
    if (isRefusal(turn)) return turn;
    this.closeRun();
    this.messages.push(turn);
    if (turn.toolCalls.length > 0) this.run = new ToolRun(turn.toolCalls);
    return null;
  }

  private addSystem(message: JsonNode, at: number): RequestRefusal | null {
    const said =
      SYSTEM.known(message, NOTHING_ELSE) ?? SYSTEM.keep(message, NOTHING_ELSE, readSystem(message, pathOf(at)));
    if (isRefusal(said)) return said;
    if (this.messages.length === 0 && (this.run === null || this.run.isEmpty())) this.leading.push(said);
    else this.pushUser(said);
    return null;
  }

  /** Tool results come before everything else of the same message, whatever order the client wrote (C72). */
  private addUser(message: JsonNode, at: number): RequestRefusal | null {
    const said = USERS.known(message, NOTHING_ELSE) ?? USERS.keep(message, NOTHING_ELSE, readUser(message, pathOf(at)));
    if (isRefusal(said)) return said;
    for (const result of said.results) {
      this.run ??= new ToolRun([]);
      this.run.add(result);
    }
    if (said.rest !== null) this.pushUser(said.rest);
    return null;
  }

  private pushUser(message: UserMessage): void {
    this.closeRun();
    this.messages.push(message);
  }

  private closeRun(): void {
    if (this.run !== null) this.messages.push(...this.run.messages());
    this.run = null;
  }
}

const pathOf = (at: number) => `messages[${at}]`;

const TURNS = readMemo<AssistantMessage>();
const USERS = readMemo<SaidByUser>();
/** A system message as it goes up where it is not among the first. */
const SYSTEM = readMemo<UserMessage>();

function readTurn(message: JsonNode, path: string, declaresRaw: DeclaresRaw): AssistantMessage | RequestRefusal {
  const turn = foldAssistant(message.get('content'), `${path}.content`, declaresRaw);
  return isRefusal(turn) ? turn : { ...turn, verbatim: plainMessage(message) };
}

function readSystem(message: JsonNode, path: string): UserMessage | RequestRefusal {
  const content = foldContent(message.get('content'), `${path}.content`, 'system');
  return typeof content === 'object' && isRefusal(content) ? content : { role: 'user', content };
}

/** A user message: the tool results in it, and the message that the rest comes to. */
interface SaidByUser {
  readonly results: readonly ToolResult[];
  readonly rest: UserMessage | null;
}

function readUser(message: JsonNode, path: string): SaidByUser | RequestRefusal {
  const content = message.get('content');
  const text = singleText(content);
  if (text !== undefined) return { results: [], rest: userText(text, message) };
  if (!content?.isArray()) {
    const folded = foldContent(content, `${path}.content`, 'user');
    if (typeof folded === 'object' && isRefusal(folded)) return folded;
    return { results: [], rest: { role: 'user', content: folded } };
  }
  const parts: EnginePart[] = [];
  const results: ToolResult[] = [];
  for (const [at, block] of content.elements().entries()) {
    const blockPath = `${path}.content[${at}]`;
    if (block.get('type')?.string() === 'tool_result') {
      const result = toolResult(block, blockPath);
      if (isRefusal(result)) return result;
      results.push(result);
      continue;
    }
    const added = blockParts(block, blockPath, 'user');
    if (isRefusal(added)) return added;
    parts.push(...added);
  }
  const isSilent = parts.length === 0 && results.length > 0;
  return { results, rest: isSilent ? null : { role: 'user', content: collapse(parts) } };
}
