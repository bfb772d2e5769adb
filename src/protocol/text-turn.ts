import { assistantMessage } from './assistant-message.ts';
import type { AssistantMessage, EngineAnswer } from './conversation.ts';

/**
 * The text of an answer that is one text and nothing else, as most are; null for any other. What a client sends back of such an answer is that text, so the reply need
 * not be read back to know it.
 */
export function onlyTextOf({ content, reasoning, refusal, toolCalls }: EngineAnswer): string | null {
  if (content === null || reasoning !== null || refusal !== null || toolCalls.length > 0) return null;
  return /\S/.test(content) ? content : null;
}

/** The turn that a text is read back as. `echoedIds`: the ids that stand in it. */
export function textTurn(text: string, echoedIds: readonly string[]): AssistantMessage {
  return assistantMessage({ content: text, reasoning: null, refusal: null, toolCalls: [], echoedIds });
}
