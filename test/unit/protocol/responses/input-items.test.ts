import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert, refuse, up } from '../../../support/responses-dialect.ts';
import { call, fc, fco, tool, turn, user } from '../../../support/responses-items.ts';

/** Items of tools that have a type of their own, and shapes that only some clients send. */

for (const [type, item, name, args] of [
  [
    'local_shell_call',
    { action: { type: 'exec', command: ['ls'] } },
    'local_shell',
    '{"type":"exec","command":["ls"]}',
  ],
  ['shell_call', { action: { commands: ['ls'], timeout_ms: 1.0 } }, 'shell', '{"commands":["ls"],"timeout_ms":1}'],
  [
    'apply_patch_call',
    { operation: { type: 'delete_file', path: 'x' } },
    'apply_patch',
    '{"type":"delete_file","path":"x"}',
  ],
  ['computer_call', { action: { type: 'screenshot' } }, 'computer', '{"type":"screenshot"}'],
  [
    'computer_call',
    { actions: [{ type: 'click', x: 1, y: 2 }, { type: 'wait' }] },
    'computer',
    '{"actions":[{"type":"click","x":1,"y":2},{"type":"wait"}]}',
  ],
  ['local_shell_call', { action: ['ls'] }, 'local_shell', '{"action":["ls"]}'],
  ['shell_call', { action: ['ls', '-l'] }, 'shell', '{"action":["ls","-l"]}'],
  ['apply_patch_call', { operation: [] }, 'apply_patch', '{"operation":[]}'],
  ['shell_call', { action: '{"commands":["ls"]}' }, 'shell', '{"commands":["ls"]}'],
  ['shell_call', { action: 'ls -l' }, 'shell', '{"action":"ls -l"}'],
] as const)
  test(`${type} is a call of ${name}: ${args}`, () => {
    assert.deepEqual(
      up([
        { type, call_id: 'c', status: 'completed', ...item },
        { type: `${type}_output`, call_id: 'c', output: 'ok' },
      ]),
      [turn(null, call('c', args, name)), tool('c', 'ok')],
    );
  });

test('a call without call_id has its id', () => {
  const action = { type: 'exec', command: ['ls'] };
  assert.deepEqual(
    up([
      { type: 'local_shell_call', id: 'lsh_1', call_id: null, action },
      { type: 'local_shell_call_output', id: 'lsh_1', output: '{"output":"x"}' },
    ]),
    [turn(null, call('lsh_1', JSON.stringify(action), 'local_shell')), tool('lsh_1', '{"output":"x"}')],
  );
});

test('the actions of a computer call are its arguments byte for byte', () => {
  const actions = '[ {"type":"click", "x":1.0,"y":12345678901234567890} ]';
  const item = `{"type":"computer_call","call_id":"c","actions":${actions}}`;
  const { messages } = convert(`{"model":"m","input":[${item},{"role":"user","content":"q"}]}`);
  assert.deepEqual(messages[0]?.role === 'assistant' && messages[0].toolCalls, [
    { id: 'c', name: 'computer', arguments: `{"actions":${actions}}` },
  ]);
});

test('an output that is no text goes up as its JSON text', () => {
  const output = [{ stdout: 'x', stderr: '', outcome: { type: 'exit', exit_code: 0 } }];
  assert.deepEqual(up([{ type: 'shell_call_output', call_id: 'c', output }]), [tool('c', JSON.stringify(output))]);
  assert.deepEqual(up([fco('c', { a: [1, 2] })]), [tool('c', '{"a":[1,2]}')]);
  assert.deepEqual(up([fco('c', 12)]), [tool('c', '12')]);
});

test('an output may be empty, absent, or one part without its list', () => {
  for (const output of ['', [], null]) assert.deepEqual(up([fco('c', output)]), [tool('c', '')]);
  assert.deepEqual(up([{ type: 'function_call_output', call_id: 'c' }]), [tool('c', '')]);
  assert.deepEqual(up([fco('c', { type: 'input_text', text: 'x' })]), [tool('c', 'x')]);
});

test('JSON that only looks like a part goes up as its JSON text', () => {
  for (const output of [
    { text: 'hi', extra: 5 },
    { text: 'hi', error: null },
    { image_url: 'http://x', title: 't' },
    { text: 'hi', image_url: 'http://x' },
    { type: 5, text: 'hi' },
  ])
    assert.deepEqual(up([fco('c', output)]), [tool('c', JSON.stringify(output))]);
  assert.deepEqual(up([fco('c', { text: 'hi' })]), [tool('c', 'hi')]);
  assert.deepEqual(up([fco('c', [{ text: 'hi', cache_control: {} }])]), [tool('c', 'hi')]);
});

test('a screenshot is an image', () => {
  const output = { type: 'computer_screenshot', image_url: 'data:,x' };
  assert.deepEqual(up([{ type: 'computer_call_output', call_id: 'c', output }]), [
    tool('c', '[image attached below]'),
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,x' } }] },
  ]);
});

test('a patch without output says what became of it', () => {
  assert.deepEqual(up([{ type: 'apply_patch_call_output', call_id: 'c', status: 'failed' }]), [tool('c', 'failed')]);
});

test('outputs without a call stay where they are', () => {
  assert.deepEqual(up([fco('x', '1'), user('q'), fco('x', '2')]), [tool('x', '1'), user('q'), tool('x', '2')]);
});

test('calls that the provider answered are left out and noted', () => {
  const request = convert({
    model: 'm',
    input: [
      { type: 'file_search_call', id: 'fs', queries: [] },
      { type: 'mcp_call', id: 'mcp', name: 'x', arguments: '{}', server_label: 's' },
      { type: 'mcp_call', id: 'mcp2', name: 'x', arguments: '{}', server_label: 's' },
      user('q'),
    ],
  });
  assert.equal(request.messages.length, 1);
  assert.deepEqual(request.ignored, ['input: file_search_call', 'input: mcp_call']);
});

test("another agent's message is a message of the user", () => {
  const content = [
    { type: 'input_text', text: 'Payload:' },
    { type: 'encrypted_content', encrypted_content: 'do it' },
  ];
  assert.deepEqual(up([{ type: 'agent_message', author: '/root', recipient: '/root/w', content }]), [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Payload:' },
        { type: 'text', text: 'do it' },
      ],
    },
  ]);
});

test('media without a type get theirs', () => {
  const input_audio = { data: 'AA', format: 'wav' };
  for (const part of [{ input_audio }, { type: null, input_audio }])
    assert.deepEqual(up([{ role: 'user', content: [part] }]), [
      { role: 'user', content: [{ type: 'input_audio', input_audio }] },
    ]);
});

test('media that engines take go up as they are', () => {
  const audio = '{"type":"input_audio","input_audio":{"data":"AA","format":"wav"}}';
  assert.deepEqual(up(JSON.parse(`[{"role":"user","content":[${audio}]}]`)), [
    { role: 'user', content: [JSON.parse(audio)] },
  ]);
});

test('a refusal part is the refusal of the message', () => {
  assert.deepEqual(up([{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }, user('q')]), [
    { role: 'assistant', content: null, refusal: 'no' },
    user('q'),
  ]);
});

test('an empty refusal is none, as in Chat', () => {
  const empty = { type: 'refusal', refusal: '' };
  assert.deepEqual(up([{ role: 'assistant', content: [empty] }, user('q')]), [turn(''), user('q')]);
  assert.deepEqual(up([{ role: 'assistant', content: [{ type: 'output_text', text: 'a' }, empty] }, user('q')]), [
    turn('a'),
    user('q'),
  ]);
  assert.deepEqual(up([{ role: 'assistant', content: [empty] }, fc('c')]), [turn(null, call('c'))]);
});

test('thoughts among the parts of a message are its reasoning', () => {
  const content = [
    { type: 'thinking', thinking: 'r' },
    { type: 'output_text', text: 'a' },
  ];
  assert.deepEqual(up([{ role: 'assistant', content }, user('q')]), [{ ...turn('a'), reasoning: 'r' }, user('q')]);
});

test('content null, absent or empty beside a call is null, the empty text is the empty text', () => {
  for (const content of [null, undefined, []])
    assert.deepEqual(up([{ type: 'message', role: 'assistant', content }, fc('c')]), [turn(null, call('c'))]);
  for (const content of ['', [{ type: 'output_text', text: '' }]])
    assert.deepEqual(up([{ type: 'message', role: 'assistant', content }, fc('c')]), [turn('', call('c'))]);
  assert.deepEqual(up([{ type: 'message', role: 'assistant', content: [] }, user('q')]), [turn(''), user('q')]);
});

test('several texts of an assistant message are one, those of a user stay apart', () => {
  const texts = ['a', 'b'].map((text) => ({ type: 'text', text }));
  assert.deepEqual(
    up([
      { role: 'assistant', content: texts },
      { role: 'user', content: texts },
    ]),
    [turn('ab'), { role: 'user', content: texts }],
  );
});

test('arguments may be an object or missing', () => {
  const source =
    '[{"type":"function_call","call_id":"c","name":"f","arguments":{"n":12345678901234567890}},{"type":"function_call","call_id":"d","name":"f"}]';
  const { messages } = convert(`{"model":"m","input":${source.slice(0, -1)},{"role":"user","content":"q"}]}`);
  assert.deepEqual(messages[0]?.role === 'assistant' && messages[0].toolCalls.map((each) => each.arguments), [
    '{"n":12345678901234567890}',
    '',
  ]);
});

for (const [name, item, param] of [
  ['a call without a name', { type: 'function_call', call_id: 'c', arguments: '{}' }, 'input[0].name'],
  ['a custom call with an object', { type: 'custom_tool_call', call_id: 'c', name: 'f', input: {} }, 'input[0].input'],
  ['an item that is no object', 'text', 'input[0]'],
  ['an item that is a list', [], 'input[0]'],
  ['an item without type and role', { x: 1 }, 'input[0].type'],
  ['a type that is no string', { type: 1 }, 'input[0].type'],
  ['content that is a number', { role: 'user', content: 1 }, 'input[0].content'],
  ['a part without type', { role: 'user', content: [{ x: 'x' }] }, 'input[0].content[0].type'],
  ['a part whose type is no string', { role: 'user', content: [{ type: 5, text: 'x' }] }, 'input[0].content[0].type'],
  ['a list of JSON that looks like a part', fco('c', [{ text: 'hi', score: 5 }]), 'input[0].output[0].type'],
  [
    'a screenshot by file_id',
    { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'f' } },
    'input[0].output.file_id',
  ],
  ['a text part without text', { role: 'user', content: [{ type: 'input_text' }] }, 'input[0].content[0].text'],
  ['an image without source', { role: 'user', content: [{ type: 'input_image' }] }, 'input[0].content[0].image_url'],
  ['a part that is a number', { role: 'assistant', content: [1] }, 'input[0].content[0]'],
  ['tools of an item that are no list', { type: 'additional_tools', tools: {} }, 'input[0].tools'],
] as const)
  test(`${name} is refused, and named`, () => {
    const refusal = refuse({ model: 'm', input: [item, user('q')] });
    assert.equal(refusal.param, param);
    assert.ok(refusal.message.startsWith(`${param}: `), refusal.message);
  });
