import type { Completion, CompletionChoice, CompletionMessage } from './completion.ts';

/**
 * The same completion as a stream of server-sent events, one string per event, as a vLLM server sends it: role, reasoning, text and calls piece by piece, the
 * finish reason, usage in a last chunk of its own where it was asked for, `[DONE]`.
 */
export function completionEvents(completion: Completion, includeUsage: boolean): string[] {
  const { id, created, model } = completion;
  const envelope = { id, object: 'chat.completion.chunk', created, model };
  const chunk = (index: number, delta: object, finishReason: string | null, more: object = {}) =>
    event({
      ...envelope,
      choices: [{ index, delta, logprobs: null, finish_reason: finishReason, ...more }],
      ...(includeUsage ? { usage: null } : {}),
    });
  const events: string[] = [];
  for (const { index } of completion.choices) events.push(chunk(index, { role: 'assistant', content: '' }, null));
  for (const choice of completion.choices) {
    for (const delta of deltas(choice.message)) events.push(chunk(choice.index, delta, null));
    events.push(chunk(choice.index, {}, choice.finish_reason, lastFields(choice)));
  }
  if (includeUsage) events.push(event({ ...envelope, choices: [], usage: completion.usage }));
  events.push('data: [DONE]\n\n');
  return events;
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function lastFields(choice: CompletionChoice): object {
  return { stop_reason: choice.stop_reason, token_ids: choice.token_ids };
}

function* deltas(message: CompletionMessage): Generator<object> {
  for (const key of ['reasoning', 'reasoning_content', 'content', 'refusal']) {
    const text = message[key];
    if (typeof text === 'string') for (const piece of words(text)) yield { [key]: piece };
  }
  for (const [index, call] of message.tool_calls.entries()) {
    const { id, type } = call;
    yield { tool_calls: [{ index, id, type, function: { name: call.function.name, arguments: '' } }] };
    for (const piece of words(call.function.arguments)) {
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
    }
  }
}

/** A text cut behind its white space; joined it is the text again. */
function words(text: string): string[] {
  return text.match(/\S*\s+|\S+/g) ?? [];
}
