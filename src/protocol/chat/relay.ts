import type { ReplyContext } from '../conversation.ts';
import { type JsonFragment, joinFragments, jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { MESSAGE_STRIP } from '../strip.ts';
import { customCallJson } from './upstream-to-chat.ts';

/** Names that never reach an agent, at any of the three levels of a completion (protocol section 2). Log probabilities that were asked for do. */
const NEVER_SERVED: ReadonlySet<string> = new Set([...MESSAGE_STRIP, 'kv_transfer_params']);

/**
 * An uncaptured Chat completion as the engine gave it, with all its choices, but without what no agent may see: members of the strip list and
 * numeric stop reasons. Calls of custom tools, which the engine knows as functions, are custom calls again. Null where nothing has to change: the engine's own bytes can
 * be sent.
 */
export function relayedCompletion(body: JsonNode, clientTools: ReplyContext['clientTools']): Buffer | null {
  const message: Inner = (key, value) =>
    key === 'tool_calls' && value.isArray() ? listOf(value, (call) => customCall(call, clientTools)) : null;
  const choice: Inner = (key, value) => (key === 'message' ? withoutTokens(value, message) : null);
  const completion: Inner = (key, value) =>
    key === 'choices' && value.isArray() ? listOf(value, (element) => withoutTokens(element, choice)) : null;
  const fragments = withoutTokens(body, completion);
  return fragments === null ? null : joinFragments(fragments);
}

function customCall(call: JsonNode, clientTools: ReplyContext['clientTools']): JsonFragment[] | null {
  const called = call.get('function');
  const name = called?.get('name')?.string();
  if (name === undefined || clientTools.get(name)?.kind !== 'custom') return null;
  return [customCallJson(call.get('id')?.rawText() ?? 'null', name, called?.get('arguments')?.string() ?? '')];
}

type Inner = (key: string, value: JsonNode) => JsonFragment[] | null;

function withoutTokens(node: JsonNode, inner: Inner): JsonFragment[] | null {
  if (!node.isObject()) return null;
  let changed = false;
  const out: JsonFragment[] = ['{'];
  for (let at = 0; at < node.keys.length; at++) {
    const key = node.keys[at] as string;
    const value = node.children[at] as JsonNode;
    if (NEVER_SERVED.has(key) || (key === 'stop_reason' && value.number() !== undefined)) {
      changed = true;
      continue;
    }
    const replaced = inner(key, value);
    if (replaced !== null) changed = true;
    out.push(`${out.length === 1 ? '' : ','}${jsonString(key)}:`, ...(replaced ?? [value.raw()]));
  }
  out.push('}');
  return changed ? out : null;
}

function listOf(list: JsonNode, inner: (element: JsonNode) => JsonFragment[] | null): JsonFragment[] | null {
  let changed = false;
  const out: JsonFragment[] = ['['];
  list.elements().forEach((element, at) => {
    const replaced = inner(element);
    if (replaced !== null) changed = true;
    out.push(at === 0 ? '' : ',', ...(replaced ?? [element.raw()]));
  });
  out.push(']');
  return changed ? out : null;
}
