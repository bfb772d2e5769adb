import { type JsonFragment, joinFragments, jsonString } from './json/fragment.ts';
import type { JsonNode } from './json/json-node.ts';
import { isJsonProblem, parseJson } from './json/parse-json.ts';
import { PrefixMemo } from './json/prefix-memo.ts';

/**
 * What an agent must not be able to say (protocol section 2). These members are dropped from a request before anything else reads it, on every
 * path, so none of them can be unknown, refused, evidence, or sent to a worker.
 */

/** Names that are dropped inside messages, items, their parts and their calls. */
export const MESSAGE_STRIP: ReadonlySet<string> = new Set([
  'ng_capture',
  'ng_commit_coords',
  'required_prefix_token_ids',
  'offload_params',
  'prompt_logprobs',
  'prompt_token_ids',
  'token_ids',
  'generation_token_ids',
  'generation_log_probs',
  'routed_experts',
  'predecessor_tail_route',
  'compact_prompt_token_ids',
]);

/** Names that are dropped at the top level of a request. */
export const REQUEST_STRIP: ReadonlySet<string> = new Set([
  ...MESSAGE_STRIP,
  'return_token_ids',
  'return_tokens_as_token_ids',
]);

/** What is dropped on one level of a request, and the members whose value (or elements) are of the level of messages. */
interface Level {
  readonly drop: ReadonlySet<string>;
  readonly holders: ReadonlySet<string>;
}

const REQUEST: Level = { drop: REQUEST_STRIP, holders: new Set(['messages', 'input', 'system']) };
/** Messages, items, parts and calls. Arguments, inputs and schemas of tools are the agent's own matter. */
const MESSAGE: Level = {
  drop: MESSAGE_STRIP,
  holders: new Set(['content', 'output', 'summary', 'tool_calls', 'function', 'custom', 'function_call']),
};

export interface StrippedBody {
  /** The body itself where nothing had to go, else a new one. */
  readonly body: JsonNode;
  /** Names of the dropped members, one entry per member. */
  readonly stripped: readonly string[];
}

/** Drops the members of the strip lists from a request body of any dialect. Anything but an object comes back as it is. */
export function stripRequest(body: JsonNode): StrippedBody {
  if (!holdsStripped(body, REQUEST)) return { body, stripped: [] };
  const stripped: string[] = [];
  const kept = joinFragments(without(body, REQUEST, stripped));
  const parsed = parseJson(kept, { maxDepth: Number.POSITIVE_INFINITY });
  if (isJsonProblem(parsed)) throw new Error(`a stripped body is no JSON: ${parsed.problem}`);
  return { body: parsed, stripped };
}

/** Most bodies hold nothing to drop: this pass builds nothing. */
function holdsStripped(node: JsonNode, level: Level): boolean {
  if (!node.isObject()) return false;
  for (let at = 0; at < node.keys.length; at++) {
    const key = node.keys[at] as string;
    if (level.drop.has(key)) return true;
    if (!level.holders.has(key)) continue;
    const value = node.children[at] as JsonNode;
    if (
      value.isArray()
        ? level === REQUEST
          ? LIST_HOLDS_STRIPPED.ofAll(value.children)
          : value.children.some(messageHoldsStripped)
        : messageHoldsStripped(value)
    )
      return true;
  }
  return false;
}

function messageHoldsStripped(node: JsonNode): boolean {
  return holdsStripped(node, MESSAGE);
}

/** Whether one of the elements of a history holds something to drop. */
const LIST_HOLDS_STRIPPED = new PrefixMemo<JsonNode, boolean>({
  start: () => false,
  step: (holds, element) => holds || messageHoldsStripped(element),
  fork: (holds) => holds,
});

/** A value without what must go, as JSON. Only objects lose members. */
function without(node: JsonNode, level: Level, stripped: string[]): JsonFragment[] {
  if (!node.isObject()) return [node.raw()];
  const out: JsonFragment[] = ['{'];
  for (let at = 0; at < node.keys.length; at++) {
    const key = node.keys[at] as string;
    if (level.drop.has(key)) {
      stripped.push(key);
      continue;
    }
    const value = node.children[at] as JsonNode;
    out.push(`${out.length === 1 ? '' : ','}${jsonString(key)}:`);
    if (!level.holders.has(key)) out.push(value.raw());
    else if (value.isArray()) elementsWithout(value, stripped, out);
    else for (const fragment of without(value, MESSAGE, stripped)) out.push(fragment);
  }
  out.push('}');
  return out;
}

function elementsWithout(list: JsonNode, stripped: string[], out: JsonFragment[]): void {
  out.push('[');
  list.children.forEach((element, at) => {
    if (at > 0) out.push(',');
    for (const fragment of without(element, MESSAGE, stripped)) out.push(fragment);
  });
  out.push(']');
}
