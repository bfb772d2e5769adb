import { jsonString } from '../protocol/json/fragment.ts';
import { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../protocol/json/parse-json.ts';
import type { LastOutputItem, OutputItemRow } from '../protocol/wire/ledger.ts';
import { canonicalReplayWithoutNulls } from './canonical-json.ts';
import { replayDigest } from './digest.ts';
import { assistantFingerprint } from './fingerprints.ts';

/** What a record says of a reply's items (protocol section 7). */
export interface RecordedOutput {
  /** `output_items`: one row per item, in order; null where an item cannot be fingerprinted. */
  readonly rows: OutputItemRow[] | null;
  /** `last_output_item`: null where there is no item. */
  readonly last: LastOutputItem | null;
}

/** Reads what a record holds of the items of a reply: Responses items, or their equivalent for Chat and Messages. */
export function recordOutput(outputItems: readonly JsonNode[]): RecordedOutput {
  const rows: OutputItemRow[] = [];
  for (const item of outputItems) {
    const fingerprint = outputItemFingerprint(item);
    if (fingerprint === null) return { rows: null, last: lastOutputItem(outputItems) };
    rows.push({ schema_version: 3, id: item.get('id')?.string() ?? null, fingerprint });
  }
  return { rows, last: lastOutputItem(outputItems) };
}

/**
 * Fingerprint of one output item (protocol section 8, last paragraph): a reasoning item by the digest of section 3 over the item without `id`,
 * `status` and nulls; a call of another kind as the function call that it was made from; others by {@link assistantFingerprint}. Null where
 * the item has none.
 */
export function outputItemFingerprint(item: JsonNode): string | null {
  switch (item.get('type')?.string()) {
    case 'reasoning':
      return reasoningFingerprint(item);
    case 'custom_tool_call': {
      const input = item.get('input');
      return input?.isString() ? callFingerprint(item, `{"input":${input.rawText()}}`) : null;
    }
    case 'tool_search_call':
      return callFingerprint(item, item.get('arguments')?.rawText() ?? 'null', 'tool_search');
    default:
      return assistantFingerprint([item]);
  }
}

function reasoningFingerprint(item: JsonNode): string | null {
  const kept = item.keys.map((key, at) => ({ key, child: item.children[at] as JsonNode }));
  const rest = kept.filter(({ key }) => key !== 'id' && key !== 'status');
  const stripped = new JsonNode(
    item.bytes,
    'object',
    item.start,
    item.end,
    0,
    rest.map(({ child }) => child),
    rest.map(({ key }) => key),
  );
  const canonical = canonicalReplayWithoutNulls(stripped);
  return canonical === null ? null : replayDigest(canonical);
}

function callFingerprint(item: JsonNode, argumentsJson: string, defaultName = ''): string | null {
  const members = [`"type":"function_call","arguments":${argumentsJson}`];
  for (const key of ['id', 'call_id', 'namespace']) {
    const value = item.present(key);
    if (value !== undefined) members.push(`"${key}":${value.rawText()}`);
  }
  members.push(`"name":${item.present('name')?.rawText() ?? jsonString(defaultName)}`);
  const call = parseJsonText(`{${members.join(',')}}`);
  if (isJsonProblem(call)) throw new Error(`a call item cannot be read again: ${call.problem}`);
  return assistantFingerprint([call]);
}

/** Text only, and only the keys that the item has. */
function lastOutputItem(items: readonly JsonNode[]): LastOutputItem | null {
  const item = items.at(-1);
  if (item === undefined) return null;
  const type = item.get('type')?.string();
  const content = textsOf(item.get('content'));
  const summary = textsOf(item.get('summary'));
  return {
    ...(type === undefined ? {} : { type }),
    ...(content === undefined ? {} : { content }),
    ...(summary === undefined ? {} : { summary }),
  };
}

/** A string is one text; of a list each part with its text, if it has one. */
function textsOf(node: JsonNode | undefined): { text?: string }[] | undefined {
  if (node?.isString()) return [{ text: node.string() as string }];
  if (!node?.isArray()) return undefined;
  return node.children.map((part) => {
    const text = part.string() ?? part.get('text')?.string();
    return text === undefined ? {} : { text };
  });
}
