import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConvertedRequest } from '../../../src/protocol/conversation.ts';
import { convert, field, fieldText, refuse, served, up, upstream } from '../../support/responses-dialect.ts';
import { fco, tool, turn, user } from '../../support/responses-items.ts';

/** Conversion cases 6.A and 6.D: tools on their way to the engine, and calls on their way back. */

const fn = (name: string, more: object = {}) => ({ type: 'function', name, parameters: {}, ...more });
const engineFn = (name: string, more: object = { parameters: {} }) => ({
  type: 'function',
  function: { name, ...more },
});
const spawn = { type: 'namespace', name: 'multi_agent_v1', description: 'd', tools: [fn('spawn_agent')] };
const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

const withTools = (tools: unknown, more: object = {}) => convert({ model: 'm', input: 'q', tools, ...more });
const engineTools = (request: ConvertedRequest) => field(request, 'tools');
const names = (request: ConvertedRequest) =>
  (engineTools(request) as { function: { name: string } }[]).map((each) => each.function.name);

/** The one item of the answer in which the engine calls a function. */
function servedCall(request: ConvertedRequest, name: string, args = '{}') {
  const { output } = served(request, { content: null, toolCalls: [{ id: 'u1', name, arguments: args }] });
  assert.equal(output.length, 1);
  const { id, ...item } = output[0] ?? {};
  return { id: String(id), item };
}

test('C26 a custom tool is a function with one string', () => {
  const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
  const request = withTools([{ type: 'custom', name: 'apply_patch', description: 'd', format: grammar }]);
  const [sent] = engineTools(request) as { function: { description: string } }[];
  assert.match(sent?.function.description ?? '', /^d\n\n.*lark.*\nstart: "x"$/s);
  assert.deepEqual(sent, {
    type: 'function',
    function: { name: 'apply_patch', description: sent?.function.description, parameters: CUSTOM_PARAMETERS },
  });
  assert.deepEqual(engineTools(withTools([{ type: 'custom', name: 'p', format: { type: 'text' } }])), [
    { type: 'function', function: { name: 'p', parameters: CUSTOM_PARAMETERS } },
  ]);
});

test('C27 a call of a custom tool is a custom call', () => {
  const request = withTools([{ type: 'custom', name: 'apply_patch' }]);
  const { id, item } = servedCall(request, 'apply_patch', '{ "input": "*** Begin\\n" }');
  assert.match(id, /^ctc_[A-Za-z0-9]+$/);
  assert.deepEqual(item, {
    type: 'custom_tool_call',
    status: 'completed',
    call_id: 'u1',
    name: 'apply_patch',
    input: '*** Begin\n',
  });
  for (const args of ['{"patch":"x"}', '{"input":1}', '{bad', '"text"', ''])
    assert.equal(servedCall(request, 'apply_patch', args).item.input, args);
});

test('C29 namespaced tools are flat functions', () => {
  assert.deepEqual(engineTools(withTools([spawn])), [engineFn('multi_agent_v1__spawn_agent')]);
  assert.deepEqual(names(withTools([{ ...spawn, name: 'functions' }])), ['spawn_agent']);
  const custom = { type: 'namespace', name: 'ns', tools: [{ type: 'custom', name: 'exec' }] };
  assert.deepEqual(engineTools(withTools([custom])), [engineFn('ns__exec', { parameters: CUSTOM_PARAMETERS })]);
});

test('C29 names that collide get a suffix, in order', () => {
  const collide = [
    fn('a__b__c'),
    { type: 'namespace', name: 'a', tools: [fn('b__c')] },
    { type: 'namespace', name: 'a__b', tools: [fn('c')] },
  ];
  const request = withTools(collide);
  assert.deepEqual(names(request), ['a__b__c', 'a__b__c_2', 'a__b__c_3']);
  assert.deepEqual(servedCall(request, 'a__b__c_3').item.namespace, 'a__b');
  assert.deepEqual(servedCall(request, 'a__b__c_2').item.name, 'b__c');
  assert.equal('namespace' in servedCall(request, 'a__b__c').item, false);
});

test('C29 names are at most 64 characters, and stay apart', () => {
  const long = 'n'.repeat(60);
  const request = withTools([{ type: 'namespace', name: long, tools: [fn('first'), fn('second')] }]);
  const [first, second] = names(request) as [string, string];
  assert.equal(first.length, 64);
  assert.equal(second.length, 64);
  assert.notEqual(first, second);
  assert.deepEqual(servedCall(request, second).item, {
    type: 'function_call',
    status: 'completed',
    call_id: 'u1',
    name: 'second',
    namespace: long,
    arguments: '{}',
  });
});

test('C30 a namespaced call has name and namespace apart', () => {
  const request = withTools([spawn, fn('other')]);
  const want = {
    type: 'function_call',
    status: 'completed',
    call_id: 'u1',
    name: 'spawn_agent',
    namespace: 'multi_agent_v1',
    arguments: '{}',
  };
  assert.deepEqual(servedCall(request, 'multi_agent_v1__spawn_agent').item, want);
  assert.deepEqual(servedCall(request, 'spawn_agent').item, want, 'the bare name, which is unique');
});

test('C30 what cannot be resolved is served as it is', () => {
  const twice = withTools([spawn, { ...spawn, name: 'other' }]);
  for (const name of ['spawn_agent', 'no_such']) {
    const { item } = servedCall(twice, name);
    assert.equal(item.name, name);
    assert.equal('namespace' in item, false);
  }
  const plain = withTools([spawn, fn('spawn_agent')]);
  assert.equal('namespace' in servedCall(plain, 'spawn_agent').item, false, 'a plain function of that name wins');
});

test('C30 the echo of a namespaced call is the call that went up, with the namespace or without', () => {
  const echoed = (namespace: object) => [
    user('q'),
    { type: 'function_call', call_id: 'u1', name: 'spawn_agent', arguments: '{}', ...namespace },
    fco('u1'),
  ];
  const want = [
    user('q'),
    turn(null, { id: 'u1', type: 'function', function: { name: 'multi_agent_v1__spawn_agent', arguments: '{}' } }),
    tool('u1'),
  ];
  assert.deepEqual(up(echoed({ namespace: 'multi_agent_v1' }), { tools: [spawn] }), want);
  assert.deepEqual(up(echoed({ namespace: null }), { tools: [spawn] }), want);
  assert.deepEqual(up(echoed({}), { tools: [spawn] }), want);
  assert.deepEqual(up(echoed({ namespace: 'multi_agent_v1' })), want, 'also where the request declares no tools');
});

test('C31 additional_tools add tools and no message', () => {
  const item = {
    type: 'additional_tools',
    role: 'developer',
    id: 'at_1',
    tools: [{ type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }, spawn],
  };
  const request = convert({ model: 'm', input: [item, { role: 'developer', content: 'B' }, user('q')] });
  assert.deepEqual(names(request), ['exec', 'multi_agent_v1__spawn_agent']);
  assert.deepEqual(upstream(request.messages), [{ role: 'system', content: 'B' }, user('q')]);
  assert.equal(servedCall(request, 'exec', '{"input":"x"}').item.type, 'custom_tool_call');
});

test('C32 hosted tools are left out and noted, a client-run search is a function', () => {
  const search = {
    type: 'tool_search',
    execution: 'client',
    description: 's',
    parameters: { type: 'object', properties: { query: { type: 'string' } } },
  };
  const request = withTools([
    { type: 'web_search', external_web_access: true },
    { type: 'web_search_preview_2025_03_11' },
    { type: 'mcp', server_label: 'x' },
    { type: 'tool_search' },
    search,
    fn('f'),
  ]);
  assert.deepEqual(engineTools(request), [
    engineFn('tool_search', { description: 's', parameters: search.parameters }),
    engineFn('f'),
  ]);
  assert.deepEqual(request.ignored, [
    'tools: web_search',
    'tools: web_search_preview_2025_03_11',
    'tools: mcp',
    'tools: tool_search',
  ]);
  const { id, item } = servedCall(request, 'tool_search', '{ "query": "q", "n": 1.0 }');
  assert.match(id, /^tsc_[A-Za-z0-9]+$/);
  assert.deepEqual(item, {
    type: 'tool_search_call',
    status: 'completed',
    call_id: 'u1',
    execution: 'client',
    arguments: { query: 'q', n: 1 },
  });
  assert.equal(servedCall(request, 'tool_search', '{bad').item.arguments, '{bad');
  assert.deepEqual(servedCall(request, 'tool_search', '').item.arguments, {});
  for (const [levels, isObject] of [
    [190, true],
    [191, false],
    [510, false],
    [4000, false],
  ] as const) {
    const deep = `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    assert.deepEqual(servedCall(request, 'tool_search', deep).item.arguments, isObject ? JSON.parse(deep) : deep);
  }
});

test('C32 an unknown tool type is refused by name', () => {
  const refusal = refuse({ model: 'm', input: 'q', tools: [fn('f'), { type: 'wonder' }] });
  assert.equal(refusal.param, 'tools[1].type');
  assert.match(refusal.message, /"wonder"/);
});

test('C33 a tool search in the history is a call and its output, and adds tools', () => {
  const found = [fn('found'), { type: 'namespace', name: 'ns', tools: [fn('deep')] }];
  const input = [
    user('q'),
    { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'q' } },
    { type: 'tool_search_output', call_id: 'c', tools: found },
  ];
  const request = convert({ model: 'm', input, tools: [fn('f')] });
  assert.deepEqual(upstream(request.messages), [
    user('q'),
    turn(null, { id: 'c', type: 'function', function: { name: 'tool_search', arguments: '{"query":"q"}' } }),
    tool('c', JSON.stringify(found)),
  ]);
  assert.deepEqual(names(request), ['f', 'found', 'ns__deep']);
});

test('C33 a search that found no tools says what it has for an output', () => {
  for (const found of [{}, { tools: null }, { tools: [] }]) {
    const input = [user('q'), { type: 'tool_search_output', call_id: 'c', ...found, output: 'nothing found' }];
    assert.deepEqual(upstream(convert({ model: 'm', input }).messages), [user('q'), tool('c', 'nothing found')]);
  }
  const neither = [user('q'), { type: 'tool_search_output', call_id: 'c', tools: [] }];
  assert.deepEqual(upstream(convert({ model: 'm', input: neither }).messages), [user('q'), tool('c', '[]')]);
});

test('C33 a search that the provider ran leaves its tools alone behind', () => {
  const input = [
    { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
    { type: 'tool_search_output', call_id: null, execution: 'server', tools: [fn('found')] },
    user('q'),
  ];
  const request = convert({ model: 'm', input });
  assert.deepEqual(upstream(request.messages), [user('q')]);
  assert.deepEqual(names(request), ['found']);
  assert.deepEqual(request.ignored, ['input: tool_search_call', 'input: tool_search_output']);
});

test('C33 a tool that is declared again replaces the earlier declaration in its place', () => {
  const again = { type: 'tool_search_output', call_id: 'c', tools: [fn('f', { description: 'new' })] };
  const request = convert({ model: 'm', input: [again, user('q')], tools: [fn('f'), fn('g')] });
  assert.deepEqual(engineTools(request), [engineFn('f', { description: 'new', parameters: {} }), engineFn('g')]);
});

test('C152 schemas go up byte for byte', () => {
  const schema = '{"10":1,"2":{"minimum":1.0,"multipleOf":1e-7,"maximum":9223372036854775807},"a":"\\u00e9","a":2}';
  const plain = `{"type":"function","name":"f","strict":true,"parameters":${schema}}`;
  for (const tools of [
    `[${plain}]`,
    `[{"type":"namespace","name":"n","tools":[${plain}]}]`,
    `[{"type":"function","function":{"name":"f","parameters":${schema}}}]`,
  ])
    assert.ok(
      fieldText(convert(`{"model":"m","input":"q","tools":${tools}}`), 'tools')?.includes(`"parameters":${schema}`),
      tools,
    );
  const format = `{"type":"json_schema","name":"n","schema":${schema}}`;
  assert.equal(
    fieldText(convert(`{"model":"m","input":"q","text":{"format":${format}}}`), 'response_format'),
    `{"type":"json_schema","json_schema":{"name":"n","schema":${schema}}}`,
  );
});
