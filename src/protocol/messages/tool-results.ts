import {
  type EngineMessage,
  type EnginePart,
  type EngineToolCall,
  isRefusal,
  type RequestRefusal,
  type ToolMessage,
  type UserMessage,
} from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { Memo, type Memorable } from '../json/memo.ts';
import { invalid, wrongType } from '../refusals.ts';
import { singleText, toolText } from '../single-text.ts';
import { UnansweredCalls } from '../unanswered-calls.ts';
import { collapse, contentParts, IMAGE_BELOW, textPart } from './fold-content.ts';

/** Says to the model that a tool failed. Engines have no field for it, and the tool's own text is left as it is. */
export const TOOL_FAILED = '[tool error]';

export interface ToolResult extends Memorable {
  readonly toolCallId: string;
  /** The one text that it is, where it is one. */
  readonly textNode: JsonNode | undefined;
  /** Text parts; an image has left its note here and stands in `images`. */
  readonly parts: readonly EnginePart[];
  readonly images: readonly EnginePart[];
}

/** A `tool_result` block. `is_error: false` is the same as none; `true` puts a text part of its own first. */
export function toolResult(block: JsonNode, path: string): ToolResult | RequestRefusal {
  const toolCallId = block.get('tool_use_id')?.string();
  if (toolCallId === undefined)
    return invalid(`${path}.tool_use_id`, 'expected the id of the tool_use block it answers');
  const isError = block.present('is_error');
  if (isError !== undefined && isError.boolean() === undefined)
    return wrongType(`${path}.is_error`, 'a boolean', isError);
  const failed = isError?.boolean() === true;
  const textNode = failed ? undefined : singleText(block.get('content'));
  if (textNode !== undefined) return textResult(toolCallId, textNode);
  const parts = contentParts(block.get('content'), `${path}.content`, 'tool_result');
  if (isRefusal(parts)) return parts;
  return {
    toolCallId,
    textNode,
    parts: [
      ...(failed ? [textPart(TOOL_FAILED)] : []),
      ...parts.map((part) => (part.type === 'text' ? part : textPart(IMAGE_BELOW))),
    ],
    images: parts.filter((part) => part.type !== 'text'),
  };
}

function textResult(toolCallId: string, textNode: JsonNode): ToolResult {
  return {
    toolCallId,
    textNode,
    get parts() {
      return [textPart(textNode.string() as string)];
    },
    images: [],
  };
}

/**
 * The tool results that follow one assistant turn, up to the next message of another kind. Several results of one call become one message (C74),
 * within this run alone, since engines use call ids again from turn to turn (C96); a turn that used one id twice waits for two results of it.
 */
export class ToolRun {
  /** The results of each tool message to be, in order. */
  private readonly results: [ToolResult, ...ToolResult[]][] = [];
  /** The last of them for each call. */
  private readonly lastOf = new Map<string, ToolResult[]>();
  private readonly withImages: ToolResult[] = [];
  private readonly unanswered = new UnansweredCalls();

  constructor(calls: readonly EngineToolCall[]) {
    for (const { id } of calls) this.unanswered.called(id);
  }

  add(result: ToolResult): void {
    if (result.images.length > 0) this.withImages.push(result);
    const earlier = this.unanswered.answered(result.toolCallId) ? undefined : this.lastOf.get(result.toolCallId);
    if (earlier !== undefined) {
      earlier.push(result);
      return;
    }
    const results: [ToolResult] = [result];
    this.lastOf.set(result.toolCallId, results);
    this.results.push(results);
  }

  /** Tool messages in the client's order, then one user message with all images of the run (C19). */
  messages(): EngineMessage[] {
    const out: EngineMessage[] = this.results.map((results) =>
      TOOL_MESSAGES.of(results[0], results, () => toolMessage(results)),
    );
    const { withImages } = this;
    const [first] = withImages;
    if (first !== undefined) out.push(IMAGE_MESSAGES.of(first, withImages, () => imageMessage(withImages)));
    return out;
  }

  isEmpty(): boolean {
    return this.results.length === 0;
  }
}

const TOOL_MESSAGES = new Memo<ToolMessage>();
const IMAGE_MESSAGES = new Memo<UserMessage>();

function imageMessage(results: readonly ToolResult[]): UserMessage {
  return { role: 'user', content: results.flatMap(({ images }) => images) };
}

function toolMessage(results: readonly [ToolResult, ...ToolResult[]]): ToolMessage {
  const [{ toolCallId, textNode }] = results;
  if (results.length === 1 && textNode !== undefined) return toolText(textNode, toolCallId);
  return { role: 'tool', content: collapse(results.flatMap(({ parts }) => parts)), toolCallId };
}
