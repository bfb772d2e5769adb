import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert, field, refuse } from '../../../support/responses-dialect.ts';

const TOOLS = [
  { type: 'function', name: 'f' },
  { type: 'custom', name: 'c' },
  { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'g' }] },
  { type: 'web_search' },
];
const FORCED = (name: string) => ({ type: 'function', function: { name } });

function chosen(choice: unknown, tools: unknown = TOOLS) {
  const request = convert({ model: 'm', input: 'q', tools, tool_choice: choice });
  const sent = (field(request, 'tools') ?? []) as { function: { name: string } }[];
  return { choice: field(request, 'tool_choice'), tools: sent.map((tool) => tool.function.name) };
}

const ALL = ['f', 'c', 'ns__g'];

for (const [name, choice, want, tools] of [
  ['none', 'none', 'none', ALL],
  ['auto', 'auto', 'auto', ALL],
  ['required', 'required', 'required', ALL],
  ['null', null, undefined, ALL],
  ['a function', { type: 'function', name: 'f' }, FORCED('f'), ALL],
  ['a function in the Chat form', { type: 'function', function: { name: 'f' } }, FORCED('f'), ALL],
  ['a custom tool', { type: 'custom', name: 'c' }, FORCED('c'), ALL],
  ['a namespaced tool', { type: 'function', namespace: 'ns', name: 'g' }, FORCED('ns__g'), ALL],
  ['a namespaced tool by its bare name', { type: 'function', name: 'g' }, FORCED('ns__g'), ALL],
  ['a hosted tool', { type: 'web_search' }, undefined, ALL],
  ['an MCP server', { type: 'mcp', server_label: 's' }, undefined, ALL],
  [
    'allowed tools',
    { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'c' }] },
    'required',
    ['c'],
  ],
  [
    'allowed tools with a hosted one',
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }, { type: 'function', name: 'f' }] },
    'auto',
    ['f'],
  ],
  [
    'an allowed namespace',
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'namespace', name: 'ns' }] },
    'auto',
    ['ns__g'],
  ],
  [
    'allowed tools in the Chat form',
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
    'auto',
    ['f'],
  ],
] as const)
  test(`tool_choice: ${name}`, () => {
    assert.deepEqual(chosen(choice), { choice: want, tools });
  });

test('tool_choice: without any tool for the engine a free choice is not sent', () => {
  for (const tools of [null, [], [{ type: 'web_search' }]])
    for (const choice of ['auto', 'none', { type: 'web_search' }])
      assert.deepEqual(chosen(choice, tools), { choice: undefined, tools: [] });
});

for (const [name, choice, param] of [
  ['an unknown word', 'maybe', 'tool_choice'],
  ['a number', 1, 'tool_choice'],
  ['an unknown type', { type: 'wonder' }, 'tool_choice.type'],
  ['no type', { name: 'f' }, 'tool_choice.type'],
  ['no name', { type: 'function' }, 'tool_choice.name'],
  ['a tool that is not declared', { type: 'function', name: 'nope' }, 'tool_choice'],
  ['allowed tools without a list', { type: 'allowed_tools', mode: 'auto' }, 'tool_choice.tools'],
  ['allowed tools in an unknown mode', { type: 'allowed_tools', mode: 'x', tools: [] }, 'tool_choice.mode'],
] as const)
  test(`tool_choice: ${name} is refused`, () => {
    assert.equal(refuse({ model: 'm', input: 'q', tools: TOOLS, tool_choice: choice }).param, param);
  });

test('tool_choice: allowed tools of which none is declared are refused, and named', () => {
  const message = (tools: object[], allowed: object[]) =>
    refuse({ model: 'm', input: 'q', tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed } })
      .message;
  const nope = { type: 'function', name: 'nope' };
  assert.equal(message(TOOLS, [nope]), 'tool_choice: names "nope", which is not among the tools');
  assert.equal(message([], [nope]), 'tool_choice: names "nope", which is not among the tools');
  assert.equal(
    message(TOOLS, [{ type: 'namespace', name: 'none' }]),
    'tool_choice: names "none", which is not among the tools',
  );
});

test('tool_choice: a demand without any tool for the engine is refused', () => {
  for (const choice of [
    'required',
    { type: 'function', name: 'f' },
    { type: 'allowed_tools', mode: 'required', tools: [] },
  ])
    assert.equal(
      refuse({ model: 'm', input: 'q', tools: [{ type: 'web_search' }], tool_choice: choice }).param,
      'tool_choice',
    );
});
