import { assistantMessage } from '../assistant-message.ts';
import { type AssistantMessage, type EngineToolCall, isRefusal, type RequestRefusal } from '../conversation.ts';
import { customArguments } from '../custom-tool.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, saidType, unsupported, wrongType } from '../refusals.ts';
import { isJsonObject } from '../upstream-body.ts';
import { hasExactly, readAssistantContent } from './read-content.ts';

/** Members of an assistant message that can go up as they stand. */
const EXACT_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'reasoning']);

/** An assistant message in any of the shapes in which clients echo a turn. `node` is an object with this role. */
export function readAssistant(node: JsonNode, path: string): AssistantMessage | RequestRefusal {
  const audio = node.present('audio');
  if (audio !== undefined)
    return unsupported(`${path}.audio`, 'earlier audio answers are not kept here; send their text');
  if (node.present('function_call') !== undefined)
    return unsupported(`${path}.function_call`, 'the legacy form is not supported; send the call in tool_calls');

  const text = readAssistantContent(node.get('content'), `${path}.content`);
  if (isRefusal(text)) return text;
  const calls = readToolCalls(node.get('tool_calls'), `${path}.tool_calls`);
  if (isRefusal(calls)) return calls;
  // Some frameworks stick a name on turns. It is no evidence (protocol section 3), so no prompt may hold it.
  const name = readText(node, 'name', path);
  if (isRefusal(name)) return name;
  const refusalText = readText(node, 'refusal', path);
  if (isRefusal(refusalText)) return refusalText;
  const reasoning = readReasoning(node, text.reasoning, path);
  if (isRefusal(reasoning)) return reasoning;

  const refusal = refusalText.text || text.refusal || null;
  // Without calls and refusal, no content is the empty text: it is what an empty answer is served as.
  const content = text.content === null && calls.list.length === 0 && refusal === null ? '' : text.content;
  const exact =
    text.exact && content === text.content && calls.exact && refusal === null && reasoning.exact && exactKeys(node);
  return assistantMessage({
    content,
    reasoning: reasoning.text,
    refusal,
    toolCalls: calls.list,
    echoedIds: echoedIds(node, calls.list),
    verbatim: exact ? node.raw() : undefined,
  });
}

/** Every key is known and stands once. */
function exactKeys(node: JsonNode): boolean {
  const { keys } = node;
  return keys.every((key, at) => EXACT_KEYS.has(key) && keys.indexOf(key) === at);
}

function echoedIds(node: JsonNode, calls: readonly EngineToolCall[]): string[] {
  const ids: string[] = [];
  const own = node.get('id')?.string() ?? '';
  if (own !== '') ids.push(own);
  for (const call of calls) if (call.id !== '') ids.push(call.id);
  return ids;
}

/** A string member; absent and null are the empty string. */
export function readText(node: JsonNode, name: string, path: string): { readonly text: string } | RequestRefusal {
  const value = node.present(name);
  if (value === undefined) return { text: '' };
  const text = value.string();
  return text === undefined ? wrongType(`${path}.${name}`, 'a string', value) : { text };
}

/**
 * Reasoning under either name, else in a thinking part or in `thinking_blocks`; white space is none. `exact` where it stands under `reasoning`
 * alone, or nowhere.
 */
function readReasoning(
  node: JsonNode,
  inContent: string | null,
  path: string,
): { readonly text: string | null; readonly exact: boolean } | RequestRefusal {
  let found: string | null = null;
  for (const name of ['reasoning', 'reasoning_content']) {
    const read = readText(node, name, path);
    if (isRefusal(read)) return read;
    if (found === null && read.text.trim() !== '') found = read.text;
  }
  if (found !== null) return { text: found, exact: !node.keys.includes('reasoning_content') };
  const elsewhere = inContent ?? thinkingBlocks(node.present('thinking_blocks'));
  const text = elsewhere === null || elsewhere.trim() === '' ? null : elsewhere;
  return { text, exact: text === null && !node.keys.includes('reasoning') };
}

function thinkingBlocks(blocks: JsonNode | undefined): string | null {
  const texts = (blocks?.elements() ?? []).flatMap((block) => block.get('thinking')?.string() ?? []);
  return texts.length === 0 ? null : texts.join('\n');
}

interface ReadCalls {
  readonly list: readonly EngineToolCall[];
  /** Whether the client's own list can go up: every call complete and known, every argument text a JSON object. */
  readonly exact: boolean;
}

function readToolCalls(node: JsonNode | undefined, path: string): ReadCalls | RequestRefusal {
  if (node === undefined) return { list: [], exact: true };
  if (node.isNull()) return { list: [], exact: false };
  if (!node.isArray()) return wrongType(path, 'an array', node);
  const list: EngineToolCall[] = [];
  let exact = node.elements().length > 0;
  for (const [at, element] of node.elements().entries()) {
    const read = readToolCall(element, `${path}[${at}]`);
    if (isRefusal(read)) return read;
    list.push(read.call);
    exact &&= read.exact;
  }
  return { list, exact };
}

function readToolCall(
  node: JsonNode,
  path: string,
): { readonly call: EngineToolCall; readonly exact: boolean } | RequestRefusal {
  if (!node.isObject()) return wrongType(path, 'an object', node);
  const id = readText(node, 'id', path);
  if (isRefusal(id)) return id;
  const said = saidType(node, path);
  if (isRefusal(said)) return said;
  const type = said.type ?? 'function';
  if (type === 'custom') return readCustomCall(node, id.text, path);
  if (type !== 'function')
    return unsupported(`${path}.type`, `the tool call type ${JSON.stringify(type)} is not known here`);
  const body = node.get('function');
  if (body === undefined || !body.isObject()) return wrongType(`${path}.function`, 'an object', body);
  const name = body.get('name')?.string();
  if (name === undefined || name === '')
    return invalid(`${path}.function.name`, 'a tool call needs the name of its function');
  const args = body.present('arguments');
  const text = args === undefined ? '' : (args.string() ?? args.rawText());
  const exact =
    id.text !== '' &&
    said.type !== undefined &&
    hasExactly(node, 'id', 'type', 'function') &&
    hasExactly(body, 'name', 'arguments') &&
    args?.isString() === true &&
    isJsonObject(text);
  return { call: { id: id.text, name, arguments: text }, exact };
}

/** The engine knows the custom tool as a function (C28). */
function readCustomCall(
  node: JsonNode,
  id: string,
  path: string,
): { readonly call: EngineToolCall; readonly exact: boolean } | RequestRefusal {
  const name = node.get('custom')?.get('name')?.string();
  const input = node.get('custom')?.get('input')?.string();
  if (name === undefined || name === '') return invalid(`${path}.custom.name`, 'a custom tool call needs a name');
  if (input === undefined) return wrongType(`${path}.custom.input`, 'a string', node.get('custom')?.get('input'));
  return { call: { id, name, arguments: customArguments(input) }, exact: false };
}
