import type { Admission } from './admission.ts';
import type { ChatMessage, PromptBody } from './chat-body.ts';
import type { WorkerContext } from './context.ts';
import type { CallFacts, WorkerRoute } from './match.ts';

/** Numbers the call and collects what scripts and faults match on. */
export function callFacts(
  worker: WorkerContext,
  route: WorkerRoute,
  body: Partial<PromptBody>,
  admission: Admission | null,
): CallFacts {
  const messages = body.messages ?? [];
  const lastHeard = messages.findLast((message) => message.role === 'user' || message.role === 'tool');
  return {
    route,
    attempt: admission?.owner ?? null,
    modelCallId: admission?.modelCallId ?? null,
    model: body.model ?? null,
    callIndex: worker.count(`route ${route}`),
    attemptIndex: admission === null || route !== 'chat' ? null : worker.count(`attempt ${admission.owner}`),
    turn: messages.filter((message) => message.role === 'assistant').length,
    lastText: lastHeard === undefined ? '' : textOf(lastHeard),
    lastRole: messages.at(-1)?.role ?? null,
    hasTools: (body.tools?.length ?? 0) > 0,
  };
}

function textOf(message: ChatMessage): string {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? [])
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('');
}
