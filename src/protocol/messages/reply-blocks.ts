import type { EngineAnswer } from '../conversation.ts';
import { sealReasoning } from '../seal.ts';
import { inputJson } from './tool-input.ts';

/** A content block of a reply, in the order in which it is served. */
export type ReplyBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  /** `inputJson` is JSON text of an object. */
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly inputJson: string };

/**
 * The blocks of an answer: thinking, text, calls. An empty text is no block (clients drop it, and the dialect knows none); a refusal is a text,
 * since clients of this dialect show nothing else.
 */
export function replyBlocks(answer: EngineAnswer, options: { readonly hideReasoning: boolean }): ReplyBlock[] {
  const blocks: ReplyBlock[] = [];
  if (answer.reasoning !== null && !options.hideReasoning)
    blocks.push({ type: 'thinking', thinking: answer.reasoning, signature: sealReasoning(answer.reasoning) });
  for (const text of [answer.content, answer.refusal])
    if (text !== null && text !== '') blocks.push({ type: 'text', text });
  for (const call of answer.toolCalls)
    blocks.push({ type: 'tool_use', id: call.id, name: call.name, inputJson: inputJson(call.arguments) });
  return blocks;
}

/** Why the answer ended, and the stop sequence where one did. */
export interface Stop {
  readonly stopReason: string;
  readonly stopSequence: string | null;
}

/**
 * `stop_reason` of an answer. Calls win over `stop`, which some engines report for a forced call. Words that the dialect does not know (an
 * `abort`) stay as they are: they go to the record, never to an agent.
 */
export function stopOf(answer: EngineAnswer): Stop {
  if (answer.refusal !== null || answer.finishReason === 'content_filter') return without('refusal');
  switch (answer.finishReason) {
    case 'length':
      return without('max_tokens');
    case 'stop':
    case 'tool_calls':
    case 'function_call':
      if (answer.toolCalls.length > 0) return without('tool_use');
      return answer.stopSequence === undefined || answer.stopSequence === ''
        ? without('end_turn')
        : { stopReason: 'stop_sequence', stopSequence: answer.stopSequence };
    default:
      return without(answer.finishReason);
  }
}

function without(stopReason: string): Stop {
  return { stopReason, stopSequence: null };
}
