import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHAT_FIELDS } from '../../../../src/protocol/chat/compatibility.ts';
import { chat } from '../../../../src/protocol/chat/index.ts';
import { type ConvertedRequest, isRefusal } from '../../../../src/protocol/conversation.ts';
import { ENGINE_EXTRAS, type FieldType } from '../../../../src/protocol/sampling-fields.ts';
import { convertChat, json, refuseChat, UNCAPTURED, upstreamText } from '../../../support/chat-conversion.ts';
import { publishedTypes } from '../../../support/published-types.ts';

const ROOT = 'ChatCompletionCreateParamsBase';
const types = publishedTypes('openai/resources/chat/completions/completions.d.ts', ROOT);

test('every field of a published request has a fate', () => {
  const fields = types.get(ROOT) ?? [];
  assert.ok(fields.length > 30, 'the published type was not found');
  assert.deepEqual(
    fields.filter((field) => !Object.hasOwn(CHAT_FIELDS.request, field)),
    [],
  );
});

test('so has every field of every nested type', () => {
  const open: string[] = [];
  for (const [type, fields] of types) {
    if (type === ROOT) continue;
    const table = CHAT_FIELDS.nested[type] ?? {};
    open.push(...fields.filter((field) => !Object.hasOwn(table, field)).map((field) => `${type}.${field}`));
  }
  assert.deepEqual(open, []);
});

test('the tables name no type that the published ones do not have', () => {
  assert.deepEqual(
    Object.keys(CHAT_FIELDS.nested).filter((type) => !types.has(type)),
    [],
  );
});

const OF_TYPE: Readonly<Record<FieldType, unknown>> = {
  number: 0.5,
  integer: 3,
  boolean: true,
  string: 'x',
  array: [1],
  object: { a: 1 },
  'string or strings': ['x'],
  'string or object': 'x',
  any: 1,
};

/** A use of each field, to see that the table says the truth. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(Object.entries(ENGINE_EXTRAS).map(([name, type]) => [name, OF_TYPE[type]])),
  messages: [{ role: 'user', content: 'other' }],
  model: 'other',
  stream: true,
  stream_options: { include_usage: true },
  temperature: 0.5,
  top_p: 0.5,
  frequency_penalty: 0.5,
  presence_penalty: 0.5,
  seed: 1,
  stop: 'x',
  logit_bias: { '5': 1 },
  max_tokens: 5,
  max_completion_tokens: 5,
  parallel_tool_calls: false,
  reasoning_effort: 'high',
  response_format: { type: 'json_object' },
  tools: [{ type: 'function', function: { name: 'g' } }],
  tool_choice: 'required',
  n: 2,
  logprobs: true,
  top_logprobs: 1,
  include: ['message.output_text.logprobs'],
  functions: [{ name: 'f' }],
  function_call: { name: 'f' },
  audio: { voice: 'x', format: 'wav' },
  modalities: ['audio'],
  moderation: { model: 'm' },
  web_search_options: {},
  metadata: { a: 'b' },
  store: true,
  user: 'u',
  safety_identifier: 's',
  service_tier: 'flex',
  prediction: { type: 'content', content: 'x' },
  verbosity: 'low',
  prompt_cache_key: 'k',
  prompt_cache_options: { mode: 'explicit' },
  prompt_cache_retention: '24h',
  instructions: 'i',
  reasoning: { effort: 'high' },
  thinking: { type: 'enabled' },
  enable_thinking: true,
  extra_body: { a: 1 },
  truncate_prompt_tokens: 5,
  continue_final_message: true,
  add_generation_prompt: false,
  chat_template: 't',
  echo: true,
  best_of: 2,
  logits_processors: ['x'],
  previous_response_id: 'r',
  conversation: 'c',
  background: true,
  truncation: 'auto',
  request_id: 'x',
  priority: 5,
  kv_transfer_params: {},
};

const BASE = {
  model: 'm',
  messages: [{ role: 'user', content: 'q' }],
  tools: [{ type: 'function', function: { name: 'f' } }],
};

/** Everything of a conversion that the call depends on. */
function outcome(request: ConvertedRequest): string {
  return `${upstreamText(request)} ${request.stream} ${request.includeUsage}`;
}

test('there is a sample of every field', () => {
  assert.deepEqual(Object.keys(SAMPLES).sort(), Object.keys(CHAT_FIELDS.request).sort());
});

for (const [field, fate] of Object.entries(CHAT_FIELDS.request)) {
  const body = { ...BASE, [field]: SAMPLES[field] };
  switch (fate.kind) {
    case 'mapped':
      test(`${field} is mapped: it changes what goes up or how the reply is given`, () => {
        assert.notEqual(outcome(convertChat(body)), outcome(convertChat(BASE)));
      });
      break;
    case 'ignored':
      test(`${field} is ignored: it changes nothing, and is not unknown`, () => {
        const request = convertChat(body);
        assert.equal(outcome(request), outcome(convertChat(BASE)));
        assert.deepEqual(request.ignored, []);
      });
      break;
    case 'refused':
      test(`${field} is refused by name`, () => {
        assert.equal(refuseChat(body).param, field);
      });
      if (fate.note.includes('under capture'))
        test(`${field} is not refused without capture`, () => {
          assert.ok(!isRefusal(chat.convert(json(body), UNCAPTURED)));
        });
      else
        test(`${field} is refused without capture, too`, () => {
          assert.equal(refuseChat(body, UNCAPTURED).param, field);
        });
      break;
    default:
      fate.kind satisfies never;
  }
}

for (const field of Object.keys(CHAT_FIELDS.request).filter((name) => name !== 'messages'))
  test(`${field}: null is no use of it`, () => {
    const withNull = { ...BASE, [field]: null };
    const without: Record<string, unknown> = { ...BASE };
    delete without[field];
    assert.equal(outcome(convertChat(withNull)), outcome(convertChat(without)));
  });
