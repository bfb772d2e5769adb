import type { JsonNode } from '../json/json-node.ts';
import { Memo, memoOf } from '../json/memo.ts';

/** Members that every Response repeats, with what stands there where the request says nothing. */
const ALWAYS: Readonly<Record<string, string>> = {
  instructions: 'null',
  max_output_tokens: 'null',
  max_tool_calls: 'null',
  metadata: '{}',
  parallel_tool_calls: 'true',
  prompt_cache_key: 'null',
  reasoning: '{"effort":null,"summary":null}',
  safety_identifier: 'null',
  service_tier: 'null',
  store: 'false',
  temperature: 'null',
  text: '{"format":{"type":"text"}}',
  tool_choice: '"auto"',
  tools: '[]',
  top_logprobs: '0',
  top_p: 'null',
  truncation: '"disabled"',
  user: 'null',
};

const ALWAYS_ENTRIES = Object.entries(ALWAYS);

/** Members that a Response repeats only where the request has them. */
const WHERE_GIVEN = ['prompt_cache_options', 'prompt_cache_retention'] as const;

/** Names of all request members that a Response repeats. */
export const REPEATED: ReadonlySet<string> = new Set([...Object.keys(ALWAYS), ...WHERE_GIVEN]);

/**
 * What a Response repeats of its request, as the client spelled it: strict clients want these members in every reply (clients.md 1.1).
 * Nothing here changes what the engine does.
 */
export function repeatedMembers(body: JsonNode): ReadonlyMap<string, string> {
  const members = membersOf(body);
  // The requests of a rollout repeat the same: then it is the same map, from which rendering saves its work.
  const tools = body.present('tools');
  return tools === undefined
    ? members
    : SAME_MEMBERS.of(tools, [...members.keys(), ...members.values()], () => members);
}

const SAME_MEMBERS = new Memo<ReadonlyMap<string, string>>();

function membersOf(body: JsonNode): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const [name, otherwise] of ALWAYS_ENTRIES) {
    const value = body.present(name);
    members.set(name, value === undefined ? otherwise : spelled(value));
  }
  for (const name of WHERE_GIVEN) {
    const value = body.present(name);
    if (value !== undefined) members.set(name, spelled(value));
  }
  const text = body.present('text');
  if (text?.present('format') === undefined && text?.isObject() === true) members.set('text', withFormat(text));
  return members;
}

/** The tools come again with each request of a rollout. */
const spelled = memoOf((node) => node.rawText());

/** `text` names its format in a reply, also where the request leaves it out. */
function withFormat(text: JsonNode): string {
  const verbosity = text.present('verbosity');
  return verbosity === undefined
    ? (ALWAYS.text as string)
    : `{"format":{"type":"text"},"verbosity":${verbosity.rawText()}}`;
}
