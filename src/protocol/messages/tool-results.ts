import {
  type EngineMessage,
  type EnginePart,
  type EngineToolCall,
  isRefusal,
  type RequestRefusal,
} from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, wrongType } from '../refusals.ts';
import { collapse, contentParts, IMAGE_BELOW, textPart } from './fold-content.ts';

/** Says to the model that a tool failed. Engines have no field for it, and the tool's own text is left as it is. */
export const TOOL_FAILED = '[tool error]';

export interface ToolResult {
  readonly toolCallId: string;
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
  const parts = contentParts(block.get('content'), `${path}.content`, 'tool_result');
  if (isRefusal(parts)) return parts;
  return {
    toolCallId,
    parts: [
      ...(isError?.boolean() === true ? [textPart(TOOL_FAILED)] : []),
      ...parts.map((part) => (part.type === 'text' ? part : textPart(IMAGE_BELOW))),
    ],
    images: parts.filter((part) => part.type !== 'text'),
  };
}

/**
 * The tool results that follow one assistant turn, up to the next message of another kind. Several results of one call become one message (C74),
 * within this run alone, since engines use call ids again from turn to turn (C96); a turn that used one id twice waits for two results of it.
 */
export class ToolRun {
  private readonly results: { readonly toolCallId: string; readonly parts: EnginePart[] }[] = [];
  private readonly images: EnginePart[] = [];
  private readonly unanswered = new Map<string, number>();

  constructor(calls: readonly EngineToolCall[]) {
    for (const { id } of calls) this.unanswered.set(id, (this.unanswered.get(id) ?? 0) + 1);
  }

  add(result: ToolResult): void {
    const waiting = this.unanswered.get(result.toolCallId) ?? 0;
    this.images.push(...result.images);
    const earlier =
      waiting === 0 ? this.results.findLast(({ toolCallId }) => toolCallId === result.toolCallId) : undefined;
    if (earlier !== undefined) {
      earlier.parts.push(...result.parts);
      return;
    }
    this.unanswered.set(result.toolCallId, Math.max(0, waiting - 1));
    this.results.push({ toolCallId: result.toolCallId, parts: [...result.parts] });
  }

  /** Tool messages in the client's order, then one user message with all images of the run (C19). */
  messages(): EngineMessage[] {
    const out: EngineMessage[] = this.results.map(({ toolCallId, parts }) => ({
      role: 'tool',
      content: collapse(parts),
      toolCallId,
    }));
    if (this.images.length > 0) out.push({ role: 'user', content: this.images });
    return out;
  }

  isEmpty(): boolean {
    return this.results.length === 0;
  }
}
