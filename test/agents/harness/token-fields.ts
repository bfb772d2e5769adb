import type { Exchange } from './tap.ts';

/** What never reaches an agent (protocol section 2), wherever in a reply it stands. */
const TOKEN_FIELDS: ReadonlySet<string> = new Set([
  'ng_capture',
  'ng_commit_coords',
  'prompt_token_ids',
  'prompt_logprobs',
  'token_ids',
  'generation_token_ids',
  'generation_log_probs',
  'routed_experts',
  'predecessor_tail_route',
  'compact_prompt_token_ids',
  'required_prefix_token_ids',
]);

/** Names of token-like fields in the replies, one entry per occurrence. Null and, for `logprobs`, the empty list are none. */
export function tokenFields(exchanges: readonly Exchange[]): string[] {
  return exchanges.flatMap((exchange) => replyValues(exchange.reply).flatMap((value) => [...found(value)]));
}

/** Every JSON value of a reply: the body, or the data of its events. */
export function replyValues(reply: string): unknown[] {
  const text = reply.trimStart();
  if (text.startsWith('{')) return [JSON.parse(text)];
  return text
    .split('\n')
    .filter((line) => line.startsWith('data:') && line.slice(5).trim().startsWith('{'))
    .map((line) => JSON.parse(line.slice(5)));
}

function* found(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const element of value) yield* found(element);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (member === null) continue;
    if (TOKEN_FIELDS.has(key)) yield key;
    if (key === 'logprobs' && !(Array.isArray(member) && member.length === 0)) yield key;
    if (key === 'stop_reason' && typeof member === 'number') yield key;
    yield* found(member);
  }
}
