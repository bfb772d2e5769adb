import {
  type ConversionOptions,
  type ConvertedRequest,
  isRefusal,
  type ReplyContext,
  type RequestRefusal,
} from '../conversation.ts';
import { unknownNames } from '../field-table.ts';
import { type JsonFragment, joinFragments } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { Memo } from '../json/memo.ts';
import { PrefixMemo } from '../json/prefix-memo.ts';
import { invalid, kindName, prefillRefusal, sharedRefusal, wrongType } from '../refusals.ts';
import { stripRequest } from '../strip.ts';
import { RESPONSES_FIELDS } from './compatibility.ts';
import { repeatedMembers } from './echo.ts';
import { foldInput } from './fold-input.ts';
import { convertFields, responsesRefusal, streamWish, wantsEncryptedReasoning } from './request-fields.ts';
import { convertToolChoice } from './tool-choice.ts';
import { collectTools, type EngineTool, type ToolSource, type ToolTable } from './tools.ts';

/** Codex drops a message with a `refusal` part, also from its history (C101). */
const DROPS_REFUSALS = /codex/i;

/**
 * A Responses request to the parts of the upstream Chat body (protocol sections 2 and 3). A refusal names the field or the item; nothing
 * has been recorded by then.
 */
export function responsesToChat(received: JsonNode, options: ConversionOptions): ConvertedRequest | RequestRefusal {
  if (!received.isObject()) return invalid(null, `the body must be a JSON object, not ${kindName(received)}`);
  const { body, stripped } = stripRequest(received);
  const refusal = sharedRefusal(body, { dialect: 'responses', ...options }) ?? responsesRefusal(body);
  if (refusal !== null) return refusal;

  const model = body.present('model');
  if (model !== undefined && !model.isString()) return wrongType('model', 'a string', model);
  const wish = streamWish(body);
  if (isRefusal(wish)) return wish;
  const instructions = body.present('instructions');
  if (instructions !== undefined && !instructions.isString())
    return wrongType('instructions', 'a string', instructions);
  const input = body.present('input');
  if (input === undefined || !(input.isString() || input.isArray()))
    return wrongType('input', 'a string or an array of items', input);

  const tools = collectTools(toolSources(body, input));
  if (isRefusal(tools)) return tools;
  const folded = foldInput(instructions, input, tools.names);
  if (isRefusal(folded)) return folded;
  const prefill = options.captured ? prefillRefusal(folded.messages, 'input') : null;
  if (prefill !== null) return prefill;
  const fields = upstreamFields(body, input, tools);
  if (isRefusal(fields)) return fields;

  return {
    dialect: 'responses',
    model: model?.string() ?? null,
    stream: wish.stream,
    includeUsage: false,
    messages: folded.messages,
    fields,
    fingerprintItems: input.elements(),
    verbatimMember: null,
    stripped,
    ignored: [...unknownNames(body.keys, RESPONSES_FIELDS.request), ...leftOutNames(tools, folded.leftOut)],
    replyContext: replyContext(body, tools, options),
  };
}

/** Where tools stand: in `tools`, and in items that add some. */
function toolSources(body: JsonNode, input: JsonNode): ToolSource[] {
  const own = body.present('tools');
  const sources: ToolSource[] = own === undefined ? [] : [{ tools: own, path: 'tools' }];
  for (const { item, at } of SETTINGS.ofAll(input.elements()).items) {
    if (isUpdate(item)) continue;
    const added = item.present('tools');
    if (added !== undefined) sources.push({ tools: added, path: `input[${at}].tools` });
  }
  return sources;
}

/** Items of an input that change its tools or its settings, with their places. There hardly ever are any. */
const SETTINGS = new PrefixMemo<JsonNode, { readonly count: number; readonly items: readonly PlacedItem[] }>({
  start: () => ({ count: 0, items: [] }),
  step: ({ count, items }, item) => ({
    count: count + 1,
    items: SETTING_TYPES.has(item.get('type')?.string()) ? [...items, { item, at: count }] : items,
  }),
  fork: (state) => state,
});

interface PlacedItem {
  readonly item: JsonNode;
  readonly at: number;
}

const SETTING_TYPES: ReadonlySet<string | undefined> = new Set([
  'additional_tools',
  'tool_search_output',
  'configuration_update',
]);

const isUpdate = (item: JsonNode) => item.get('type')?.string() === 'configuration_update';

function upstreamFields(body: JsonNode, input: JsonNode, tools: ToolTable): Map<string, JsonFragment> | RequestRefusal {
  const updates = SETTINGS.ofAll(input.elements()).items.flatMap(({ item }) => (isUpdate(item) ? [item] : []));
  const fields = convertFields(body, updates);
  if (isRefusal(fields)) return fields;
  const chosen = convertToolChoice(body.present('tool_choice'), tools);
  if (isRefusal(chosen)) return chosen;
  if (chosen.tools.length > 0) fields.set('tools', toolList(chosen.tools));
  if (chosen.choice !== null) fields.set('tool_choice', chosen.choice);
  return fields;
}

const TOOL_LISTS = new Memo<Buffer>();

function toolList(tools: readonly EngineTool[]): Buffer {
  return TOOL_LISTS.of(tools[0] as EngineTool, tools, () =>
    joinFragments(['[', ...tools.flatMap(({ json }, at) => (at === 0 ? json : [',', ...json])), ']']),
  );
}

/** What the engine does not get to see, for the log, each type once: `tools: web_search`. */
function leftOutNames(tools: ToolTable, items: readonly string[]): string[] {
  return [...new Set([...tools.leftOut.map((type) => `tools: ${type}`), ...items.map((type) => `input: ${type}`)])];
}

function replyContext(body: JsonNode, tools: ToolTable, options: ConversionOptions): ReplyContext {
  return {
    repeated: repeatedMembers(body),
    clientTools: tools.clientTools,
    encryptedReasoning: options.alwaysEncryptReasoning || wantsEncryptedReasoning(body),
    refusalAsText: DROPS_REFUSALS.test(options.userAgent),
  };
}
