import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convert, refuse, upstream, upstreamText } from '../../../support/messages-dialect.ts';

const GO = { role: 'user', content: 'go' };
const SCHEMA = { type: 'object', properties: { q: { type: 'string' } } };
const body = (rest: object) => ({ model: 'm', max_tokens: 9, messages: [GO], ...rest });
const fields = (rest: object) => {
  const { model: _model, messages: _messages, max_tokens: _max, ...others } = upstream(body(rest));
  return others;
};
const F = { type: 'function', function: { name: 'f', description: 'd', parameters: SCHEMA } };
const TOOL = { name: 'f', description: 'd', input_schema: SCHEMA };

describe('tools', () => {
  test('custom tools become functions', () => {
    assert.deepEqual(
      fields({
        tools: [TOOL, { ...TOOL, name: 'g', type: 'custom', strict: false, cache_control: {}, defer_loading: true }],
      }),
      {
        tools: [F, { type: 'function', function: { ...F.function, name: 'g', strict: false } }],
      },
    );
  });

  test('no description and no schema', () => {
    assert.deepEqual(fields({ tools: [{ name: 'f', description: null }] }), {
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
    });
  });

  test('C152 a schema goes up byte for byte', () => {
    const schema =
      '{ "minimum":1.0,"multipleOf":1e-7, "maximum":9223372036854775807,"10":{},"2":{},"\\u00e9":"\\ud83d" }';
    const text = upstreamText(
      convert(
        `{"model":"m","messages":[{"role":"user","content":"go"}],"tools":[{"name":"f","input_schema":${schema}}]}`,
      ),
    );
    assert.ok(text.includes(`"parameters":${schema}`), text);
  });

  test('C32 tools of the provider are left out and told to the log', () => {
    const tools = [
      { type: 'web_search_20250305', name: 'web_search' },
      TOOL,
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      { type: 'code_execution_20260120', name: 'code_execution' },
      { type: 'web_fetch_20250910', name: 'web_fetch' },
    ];
    assert.deepEqual(fields({ tools }), { tools: [F] });
    assert.deepEqual(convert(body({ tools })).ignored, [
      'tools: web_search_20250305',
      'tools: tool_search_tool_regex_20251119',
      'tools: code_execution_20260120',
      'tools: web_fetch_20250910',
    ]);
  });

  test('without any tool left nothing of tools goes up', () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    assert.deepEqual(fields({ tools, tool_choice: { type: 'tool', name: 'web_search' } }), {});
    assert.deepEqual(fields({ tools, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }), {});
    assert.deepEqual(fields({ tools: [] }), {});
  });

  for (const type of [
    'bash_20250124',
    'text_editor_20250728',
    'computer_20251124',
    'memory_20250818',
    'browser_toolset_20260801',
    'wonder_1',
  ])
    test(`${type} is refused by name`, () => {
      const refusal = refuse(body({ tools: [TOOL, { type, name: 'x' }] }));
      assert.equal(refusal.param, 'tools[1].type');
      assert.match(refusal.message, new RegExp(`"${type}".*input_schema`));
    });

  const WRONG: readonly (readonly [tools: unknown, param: string])[] = [
    [{}, 'tools'],
    [['f'], 'tools[0]'],
    [[{ input_schema: {} }], 'tools[0].name'],
    [[{ ...TOOL, input_schema: 'x' }], 'tools[0].input_schema'],
    [[{ ...TOOL, description: 7 }], 'tools[0].description'],
    [[{ ...TOOL, strict: 'yes' }], 'tools[0].strict'],
    [[{ ...TOOL, type: 5 }], 'tools[0].type'],
  ];
  for (const [tools, param] of WRONG)
    test(`wrong type: ${param}`, () => assert.equal(refuse(body({ tools })).param, param));
});

describe('tool_choice', () => {
  const rows: readonly (readonly [choice: object, want: object])[] = [
    [{ type: 'auto' }, { tool_choice: 'auto' }],
    [{ type: 'any' }, { tool_choice: 'required' }],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [{ type: 'tool', name: 'f' }, { tool_choice: { type: 'function', function: { name: 'f' } } }],
    [{ type: 'auto', disable_parallel_tool_use: false }, { tool_choice: 'auto' }],
    [
      { type: 'any', disable_parallel_tool_use: true },
      { tool_choice: 'required', parallel_tool_calls: false },
    ],
  ];
  for (const [choice, want] of rows)
    test(JSON.stringify(choice), () =>
      assert.deepEqual(fields({ tools: [TOOL], tool_choice: choice }), { tools: [F], ...want }),
    );

  test('a demand without any tool that the agent runs is refused', () => {
    for (const tools of [undefined, null, [], [{ type: 'web_search_20250305', name: 'web_search' }]])
      assert.equal(refuse(body({ tools, tool_choice: { type: 'any' } })).param, 'tool_choice');
  });

  const wrong: readonly (readonly [choice: unknown, param: string])[] = [
    ['auto', 'tool_choice'],
    [{ type: 'wonder' }, 'tool_choice.type'],
    [{ type: 'tool' }, 'tool_choice.name'],
    [{ type: 'tool', name: 'g' }, 'tool_choice.name'],
    [{ type: 'auto', disable_parallel_tool_use: 1 }, 'tool_choice.disable_parallel_tool_use'],
  ];
  for (const [choice, param] of wrong)
    test(`refused: ${JSON.stringify(choice)}`, () =>
      assert.equal(refuse(body({ tools: [TOOL], tool_choice: choice })).param, param));
});
