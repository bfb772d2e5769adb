import { type EngineMessage, type EnginePart, isRefusal, type RequestRefusal } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, wrongType } from '../refusals.ts';
import { foldAssistant } from './fold-assistant.ts';
import { blockParts, collapse, type FoldedContent, foldContent } from './fold-content.ts';
import { quoted } from './quoted.ts';
import type { DeclaresRaw } from './tool-input.ts';
import { type ToolResult, ToolRun, toolResult } from './tool-results.ts';

/**
 * `messages` of a request, in the form in which the engine sees them (protocol section 3). Messages are never merged; a user message may
 * become several, since the engine knows tool results as messages of their own. A system message stays in its place: before all others it
 * joins the system prompt (its contents are returned as `leading`), later it goes up as a user message (C16, C71).
 */
export interface FoldedMessages {
  readonly leading: readonly FoldedContent[];
  readonly messages: readonly EngineMessage[];
}

export function foldMessages(list: JsonNode | undefined, declaresRaw: DeclaresRaw): FoldedMessages | RequestRefusal {
  if (list === undefined || !list.isArray()) return wrongType('messages', 'an array', list);
  if (list.elements().length === 0) return invalid('messages', 'expected at least one message');
  const fold = new Fold(declaresRaw);
  for (const [at, message] of list.elements().entries()) {
    const refusal = fold.add(message, `messages[${at}]`);
    if (refusal !== null) return refusal;
  }
  return fold.finish();
}

class Fold {
  private readonly leading: FoldedContent[] = [];
  private readonly messages: EngineMessage[] = [];
  private readonly declaresRaw: DeclaresRaw;
  private run = new ToolRun([]);

  constructor(declaresRaw: DeclaresRaw) {
    this.declaresRaw = declaresRaw;
  }

  add(message: JsonNode, path: string): RequestRefusal | null {
    if (!message.isObject()) return wrongType(path, 'an object', message);
    const role = message.get('role')?.string();
    switch (role) {
      case 'user':
        return this.addUser(message, path);
      case 'assistant':
        return this.addAssistant(message, path);
      case 'system':
      case 'developer':
        return this.addSystem(message, path);
      default:
        return invalid(
          `${path}.role`,
          `the role ${quoted(role)} is not known here; use "user", "assistant" or "system"`,
        );
    }
  }

  finish(): FoldedMessages {
    this.closeRun();
    return { leading: this.leading, messages: this.messages };
  }

  private addAssistant(message: JsonNode, path: string): RequestRefusal | null {
    const turn = foldAssistant(message.get('content'), `${path}.content`, this.declaresRaw);
    if (isRefusal(turn)) return turn;
    this.closeRun();
    this.messages.push(isPlain(message) ? { ...turn, verbatim: message.raw() } : turn);
    this.run = new ToolRun(turn.toolCalls);
    return null;
  }

  private addSystem(message: JsonNode, path: string): RequestRefusal | null {
    const content = foldContent(message.get('content'), `${path}.content`, 'system');
    if (typeof content === 'object' && isRefusal(content)) return content;
    if (this.messages.length === 0 && this.run.isEmpty()) {
      this.leading.push(content);
    } else {
      this.closeRun();
      this.messages.push({ role: 'user', content });
    }
    return null;
  }

  /** Tool results come before everything else of the same message, whatever order the client wrote (C72). */
  private addUser(message: JsonNode, path: string): RequestRefusal | null {
    const content = message.get('content');
    if (!content?.isArray()) {
      const folded = foldContent(content, `${path}.content`, 'user');
      if (typeof folded === 'object' && isRefusal(folded)) return folded;
      this.pushUser(folded, message);
      return null;
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
    for (const result of results) this.run.add(result);
    if (parts.length > 0 || results.length === 0) this.pushUser(collapse(parts), message);
    return null;
  }

  private pushUser(content: FoldedContent, message: JsonNode): void {
    this.closeRun();
    this.messages.push(
      isPlain(message) ? { role: 'user', content, verbatim: message.raw() } : { role: 'user', content },
    );
  }

  private closeRun(): void {
    this.messages.push(...this.run.messages());
    this.run = new ToolRun([]);
  }
}

/** The client's own bytes are the upstream message already: a role and one string, nothing else. */
function isPlain(message: JsonNode): boolean {
  return message.keys.length === 2 && message.get('content')?.isString() === true;
}
