import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convert, refuse, upstream, upstreamText } from '../../../support/messages-dialect.ts';

const GO = { role: 'user', content: 'go' };
const body = (rest: object) => ({ messages: [GO], ...rest });
const fields = (rest: object) => {
  const { messages: _messages, ...others } = upstream(body(rest));
  return others;
};
const SCHEMA = { type: 'object', properties: { a: { type: 'number' } } };
const FORMAT = { type: 'json_schema', json_schema: { name: 'output', strict: true, schema: SCHEMA } };

describe('fields that go up', () => {
  const rows: readonly (readonly [id: string, sent: object, want: object])[] = [
    ['nothing but messages', {}, {}],
    [
      'sampling',
      { model: 'm', max_tokens: 7, temperature: 0.5, top_p: 1, top_k: 40, stop_sequences: ['a', '\n'] },
      { model: 'm', max_tokens: 7, temperature: 0.5, top_p: 1, top_k: 40, stop: ['a', '\n'] },
    ],
    ['no stop sequences', { stop_sequences: [] }, {}],
    [
      "the engine's own",
      { min_p: 0.1, chat_template_kwargs: { enable_thinking: false }, seed: 3 },
      { min_p: 0.1, chat_template_kwargs: { enable_thinking: false }, seed: 3 },
    ],
    [
      'C36 effort',
      { output_config: { effort: 'high', task_budget: {} }, thinking: { type: 'enabled', budget_tokens: 1024 } },
      { reasoning_effort: 'high' },
    ],
    ['C36 no effort', { output_config: { effort: null, format: null }, thinking: { type: 'adaptive' } }, {}],
    [
      'C35 structured output',
      { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      { response_format: FORMAT },
    ],
    [
      'C35 structured output, the older name',
      { output_format: { type: 'json_schema', schema: SCHEMA } },
      { response_format: FORMAT },
    ],
    [
      'C37 what only the provider knows',
      {
        metadata: { user_id: 'u' },
        service_tier: 'auto',
        context_management: { edits: [] },
        speed: 'fast',
        cache_control: {},
      },
      {},
    ],
    ['an empty list of MCP servers', { mcp_servers: [] }, {}],
    [
      'defaults that are no use',
      { n: 1, truncation: 'disabled', continue_final_message: false, add_generation_prompt: true, logprobs: false },
      {},
    ],
    ['what an agent must not say', { request_id: 'x', priority: 1, kv_transfer_params: {}, stream_options: {} }, {}],
  ];
  for (const [id, sent, want] of rows) test(id, () => assert.deepEqual(fields(sent), want));

  test('numbers go up in the spelling of the client', () => {
    const text = upstreamText(
      convert('{"messages":[{"role":"user","content":"go"}],"temperature":1.0e0,"top_p":0.10}'),
    );
    assert.equal(text, '{"messages":[{"role":"user","content":"go"}],"temperature":1.0e0,"top_p":0.10}');
  });

  test('token fields of an agent are dropped and counted', () => {
    const request = convert(
      body({
        ng_capture: {},
        return_token_ids: true,
        required_prefix_token_ids: [1],
        messages: [{ role: 'assistant', content: 'x', prompt_token_ids: [1] }, GO],
      }),
    );
    assert.deepEqual(request.stripped.toSorted(), [
      'ng_capture',
      'prompt_token_ids',
      'required_prefix_token_ids',
      'return_token_ids',
    ]);
    assert.equal(
      upstreamText(request),
      '{"messages":[{"role":"assistant","content":"x"},{"role":"user","content":"go"}]}',
    );
  });

  test('the strip list leaves the input of a tool alone', () => {
    const input = { token_ids: [1, 2], content: { prompt_token_ids: 1 } };
    const request = convert(
      body({ messages: [GO, { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input }] }, GO] }),
    );
    assert.deepEqual(request.stripped, []);
    assert.ok(upstreamText(request).includes(JSON.stringify(JSON.stringify(input))));
  });
});

test('what the request asks of the reply', () => {
  const request = convert(body({ model: 'm', stream: true }));
  assert.deepEqual([request.dialect, request.model, request.stream], ['messages', 'm', true]);
  assert.equal(convert(body({ stream: false })).stream, false);
  assert.equal(convert(body({})).model, null);
});

describe('refusals name the field', () => {
  const rows: readonly (readonly [sent: object, param: string])[] = [
    [{ mcp_servers: [{ type: 'url', url: 'u', name: 'n' }] }, 'mcp_servers'],
    [{ container: 'c' }, 'container'],
    [{ compaction: { type: 'summarize' } }, 'compaction'],
    [{ thread: { type: 'create' } }, 'thread'],
    [{ previous_response_id: 'r' }, 'previous_response_id'],
    [{ conversation: 'c' }, 'conversation'],
    [{ background: true }, 'background'],
    [{ n: 2 }, 'n'],
    [{ truncate_prompt_tokens: 9 }, 'truncate_prompt_tokens'],
    [{ continue_final_message: true }, 'continue_final_message'],
    [{ add_generation_prompt: false }, 'add_generation_prompt'],
    [{ logprobs: true }, 'logprobs'],
    [{ chat_template: 'x' }, 'chat_template'],
    [{ model: 7 }, 'model'],
    [{ stream: 'yes' }, 'stream'],
    [{ max_tokens: '7' }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ stop_sequences: 'a' }, 'stop_sequences'],
    [{ stop_sequences: ['a', 7] }, 'stop_sequences[1]'],
    [{ system: 7 }, 'system'],
    [{ system: [{ type: 'image', source: {} }] }, 'system[0].type'],
    [{ messages: 'hi' }, 'messages'],
    [{ messages: undefined }, 'messages'],
    [{ output_config: 'high' }, 'output_config'],
    [{ output_config: { effort: 7 } }, 'output_config.effort'],
    [{ output_config: { format: { type: 'text' } } }, 'output_config.format.type'],
    [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format.schema'],
    [{ output_format: 'json' }, 'output_format'],
  ];
  for (const [sent, param] of rows)
    test(JSON.stringify(sent), () => {
      const refusal = refuse(body(sent));
      assert.equal(refusal.param, param);
      assert.ok(refusal.message.startsWith(`${param}: `), refusal.message);
      // What has the official tool runners go on without a thread.
      assert.deepEqual(
        refusal.details,
        param === 'thread' ? { error_code: 'thread_unsupported_request', unsupported: [] } : undefined,
      );
    });

  for (const text of ['[]', 'null', '"x"', '7'])
    test(`a body that is ${text}`, () => assert.match(refuse(text).message, /^body: expected an object/));
});

test('JSON that we did not write goes up as it came', () => {
  const input =
    '{ "id": 2512292042121000001, "x":1.0e4,"10":1,"2":2,"dup":1,"dup":2,"s":"\\ud83d\\u00e9\\/" , "n":{"__proto__":1e400}}';
  const text = upstreamText(
    convert(
      `{"messages":[{"role":"user","content":"\\ud83d lone"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${input}}]},{"role":"user","content":[{"type":"text","text":"a\\u2028\\ud83d"},{"type":"text","text":"b"}]}]}`,
    ),
  );
  const call = JSON.stringify({ id: 'a', type: 'function', function: { name: 'f', arguments: input } });
  assert.equal(
    text,
    `{"messages":[{"role":"user","content":"\\ud83d lone"},{"role":"assistant","content":null,"tool_calls":[${call}]},{"role":"user","content":[{"type":"text","text":"a\u2028\\ud83d"},{"type":"text","text":"b"}]}]}`,
  );
});
