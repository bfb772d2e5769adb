import { isJsonProblem, parseJsonText } from '../../src/protocol/json/parse-json.ts';
import { pythonJson } from './python-json.ts';
import type { JsonObject } from './responses-dialect.ts';

/** How clients echo the output of a reply in their next request (clients.md 1.6, 2.2, 2.5), each as the same turn. */
export type EchoStyle = (output: readonly JsonObject[]) => object[];

type Item = Readonly<Record<string, unknown>>;
type Part = { readonly type: string; readonly text?: string };

const without = (item: Item, ...names: string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

const parts = (item: Item): Part[] =>
  (item.content as Part[]).map((part) => without({ ...part }, 'annotations', 'logprobs') as Part);

const isMessage = (item: Item) => item.type === 'message';
const isReasoning = (item: Item) => item.type === 'reasoning';

/** Each item by a function, messages and reasoning items by their own. */
const each =
  (message: (item: Item) => Item, reasoning: (item: Item) => Item, call: (item: Item) => Item): EchoStyle =>
  (output) =>
    output.map((item) => (isMessage(item) ? message(item) : isReasoning(item) ? reasoning(item) : call(item)));

const same = (item: Item): Item => item;
const bare = (item: Item): Item => without(item, 'id', 'status');

/** No double, so nobody can write it back. */
const BEYOND_DOUBLE = '1e400';

/** Arguments as a JavaScript client writes them back; what it cannot read stays. */
export function javaScriptArguments(text: string): string {
  if (text.includes(BEYOND_DOUBLE)) return text;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Arguments as Python's json.dumps writes them by default. */
export function pythonArguments(text: string): string {
  const node = parseJsonText(text);
  return isJsonProblem(node) || text.includes(BEYOND_DOUBLE) ? text : pythonJson(node, true);
}

const rewriteCall =
  (write: (text: string) => string, ...drop: string[]) =>
  (item: Item): Item =>
    item.type === 'function_call'
      ? { ...without(item, ...drop), arguments: write(item.arguments as string) }
      : without(item, ...drop);

/** A message of one text as its string, without type and id; others as they are. */
const asString = (item: Item): Item => {
  const [only, ...rest] = parts(item);
  return rest.length === 0 && only?.type === 'output_text' ? { role: 'assistant', content: only.text } : item;
};

export const ECHO_STYLES: Readonly<Record<string, EchoStyle>> = {
  verbatim: (output) => [...output],
  'Codex 0.63': each(
    (item) => ({ type: 'message', role: 'assistant', content: parts(item) }),
    (item) => ({ type: 'reasoning', summary: item.summary, content: item.content, encrypted_content: null }),
    (item) => (item.type === 'custom_tool_call' ? without(item, 'id') : bare(item)),
  ),
  'Codex 0.169': each(
    (item) => ({
      type: item.type,
      status: item.status,
      id: item.id,
      role: item.role,
      content: item.content,
      internal_chat_message_metadata_passthrough: { turn_id: 't', create_time: 1 },
    }),
    (item) => ({ ...without(item, 'status'), encrypted_content: item.encrypted_content ?? null }),
    (item) => Object.fromEntries(Object.entries(item).reverse()),
  ),
  'AI SDK, store: false': each(
    (item) => ({ role: 'assistant', content: parts(item), id: item.id }),
    (item) => ({ type: 'reasoning', id: item.id, encrypted_content: item.encrypted_content, summary: item.summary }),
    rewriteCall(javaScriptArguments, 'id', 'status'),
  ),
  opencode: each(
    (item) => ({ role: 'assistant', content: parts(item), phase: 'final_answer' }),
    (item) => ({ type: 'reasoning', encrypted_content: item.encrypted_content, summary: [] }),
    rewriteCall(javaScriptArguments, 'id', 'status'),
  ),
  'Agents JS': each(
    (item) => ({ ...item, phase: null }),
    same,
    (item) => ({ ...item, providerData: {} }),
  ),
  'model dump': each(
    (item) => ({ ...item, phase: null, created_by: null }),
    (item) => ({ ...item, encrypted_content: item.encrypted_content ?? null }),
    (item) => ({ namespace: null, caller: null, created_by: null, async: null, ...item }),
  ),
  OpenHands: each(
    (item) => ({ type: 'message', role: 'assistant', content: parts(item) }),
    same,
    (item) => without(item, 'status'),
  ),
  'pydantic-ai': each(
    asString,
    (item) => ({ ...item, encrypted_content: null }),
    rewriteCall(javaScriptArguments, 'status'),
  ),
  'langchain, plain': each((item) => ({ ...without(item, 'status'), content: parts(item) }), same, bare),
  'langchain, streamed': each(
    same,
    (item) => ({ ...item, content: [], status: 'in_progress' }),
    rewriteCall(pythonArguments),
  ),
  'summary alone': each(same, (item) => ({ type: 'reasoning', summary: item.summary }), same),
  'content alone': each(same, (item) => ({ type: 'reasoning', content: item.content }), same),
  'without namespaces': each(same, same, (item) => without(item, 'namespace')),
};
