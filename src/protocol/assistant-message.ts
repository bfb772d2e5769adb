import type { AssistantMessage } from './conversation.ts';

/** An assistant message. All are made here, so that they have one shape: V8 tells only a few apart where messages are looked at. */
export function assistantMessage(
  message: Pick<AssistantMessage, 'content' | 'reasoning' | 'refusal' | 'toolCalls' | 'echoedIds'> &
    Partial<Pick<AssistantMessage, 'verbatim'>>,
): AssistantMessage {
  const { content, reasoning, refusal, toolCalls, echoedIds, verbatim } = message;
  return { role: 'assistant', content, reasoning, refusal, toolCalls, echoedIds, verbatim, memo: undefined };
}
