import type { AssistantMessage } from '../../src/protocol/conversation.ts';

/** An assistant turn that says nothing, with these changes: every member spelled out, as a conversion makes it. */
export function turnOf(changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: 'assistant',
    content: '',
    reasoning: null,
    refusal: null,
    toolCalls: [],
    echoedIds: [],
    verbatim: undefined,
    memo: undefined,
    ...changes,
  };
}
