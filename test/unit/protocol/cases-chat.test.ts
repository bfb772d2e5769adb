import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { renderDigest } from '../../../src/lineage/render-digest.ts';
import {
  type Body,
  chatUp,
  convertChat,
  refuseChat,
  UNCAPTURED,
  upstreamMessages,
  upstreamText,
} from '../../support/chat-conversion.ts';

/** The public conversion cases of the Chat dialect, each under its number; a letter marks a sibling of the case. */

const ASKED = [
  { role: 'system', content: 's' },
  { role: 'user', content: 'q' },
];
const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const RESULT = { role: 'tool', tool_call_id: 'c1', content: 'ok' };

const UP: readonly (readonly [id: string, message: object, up: object])[] = [
  [
    'C51 reasoning_content',
    { role: 'assistant', reasoning_content: 'r', content: 'x' },
    { role: 'assistant', content: 'x', reasoning: 'r' },
  ],
  [
    'C51a reasoning',
    { role: 'assistant', reasoning: 'r', content: 'x' },
    { role: 'assistant', content: 'x', reasoning: 'r' },
  ],
  [
    'C53 null',
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'assistant', content: null, tool_calls: [CALL] },
  ],
  ['C53 absent', { role: 'assistant', tool_calls: [CALL] }, { role: 'assistant', content: null, tool_calls: [CALL] }],
  [
    'C53 []',
    { role: 'assistant', content: [], tool_calls: [CALL] },
    { role: 'assistant', content: null, tool_calls: [CALL] },
  ],
  [
    'C53 ""',
    { role: 'assistant', content: '', tool_calls: [CALL] },
    { role: 'assistant', content: '', tool_calls: [CALL] },
  ],
  [
    'C53a a list of one empty text',
    { role: 'assistant', content: [{ type: 'text', text: '' }], tool_calls: [CALL] },
    { role: 'assistant', content: '', tool_calls: [CALL] },
  ],
  ['C54 tool_calls null', { role: 'assistant', content: 'x', tool_calls: null }, { role: 'assistant', content: 'x' }],
  ['C54 tool_calls []', { role: 'assistant', content: 'x', tool_calls: [] }, { role: 'assistant', content: 'x' }],
  [
    'C56 extra nulls',
    {
      role: 'assistant',
      content: 'x',
      function_call: null,
      tool_calls: null,
      audio: null,
      refusal: null,
      annotations: [],
      provider_specific_fields: { refusal: null },
    },
    { role: 'assistant', content: 'x' },
  ],
  ['C63 developer', { role: 'developer', content: 'x' }, { role: 'system', content: 'x' }],
  ['C16a late system stays', { role: 'system', content: 'x' }, { role: 'system', content: 'x' }],
  [
    'C18a result in parts',
    {
      role: 'tool',
      tool_call_id: 'c1',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'c1',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    },
  ],
  [
    'C23a image without detail',
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:x' } }] },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:x' } }] },
  ],
  [
    'C25a parts of Responses',
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'x' },
        { type: 'input_image', image_url: 'u' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: 'u' } },
      ],
    },
  ],
  [
    'C28a custom call echo',
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'p', input: '*** Begin\n' } }],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'p', arguments: '{"input":"*** Begin\\n"}' } }],
    },
  ],
  [
    'C39a malformed arguments',
    { role: 'assistant', content: null, tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{"cmd": "ec' } }] },
    { role: 'assistant', content: null, tool_calls: [{ ...CALL, function: { name: 'f', arguments: '{}' } }] },
  ],
  [
    'C97a ids verbatim',
    { role: 'tool', tool_call_id: 'functions.list_dir:0', content: 'x' },
    { role: 'tool', tool_call_id: 'functions.list_dir:0', content: 'x' },
  ],
  [
    'C98a long client ids verbatim',
    { role: 'tool', tool_call_id: `${'x'.repeat(99)}\n`, content: 'x' },
    { role: 'tool', tool_call_id: `${'x'.repeat(99)}\n`, content: 'x' },
  ],
  [
    'C104a think tags of a history',
    { role: 'assistant', content: '<think>r</think>x' },
    { role: 'assistant', content: '<think>r</think>x' },
  ],
];

describe('what goes up', () => {
  for (const [id, message, up] of UP)
    test(id, () => {
      assert.deepEqual(chatUp(message), [up]);
    });

  test('C19a an image in a tool result follows in a user message', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    assert.deepEqual(chatUp({ ...RESULT, content: [image] }), [
      { ...RESULT, content: '[image attached below]' },
      { role: 'user', content: [image] },
    ]);
  });

  test('C21a a call without a result is forwarded as it is', () => {
    assert.equal(
      chatUp({ role: 'assistant', content: null, tool_calls: [CALL] }, { role: 'user', content: 'go on' }).length,
      2,
    );
  });

  test('C96a one id in two turns stays with its turn', () => {
    const turn = { role: 'assistant', content: null, tool_calls: [CALL] };
    const history = [turn, { ...RESULT, content: '1' }, turn, { ...RESULT, content: '2' }];
    assert.deepEqual(chatUp(...history), history);
  });

  test('C98b with a limit, call and result map alike, on the wire only', () => {
    const id = `${'x'.repeat(99)}\n`;
    const request = convertChat({
      messages: [
        ...ASKED,
        { role: 'assistant', content: null, tool_calls: [{ ...CALL, id }] },
        { ...RESULT, tool_call_id: id },
      ],
    });
    const [, , turn, result] = upstreamMessages(request, { reasoningKey: 'reasoning', callIdLimit: 64 }) as [
      object,
      object,
      { tool_calls: { id: string }[] },
      { tool_call_id: string },
    ];
    assert.equal(turn.tool_calls[0]?.id, result.tool_call_id);
    assert.equal(result.tool_call_id.length, 64);
    assert.deepEqual(
      request.messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
      [id],
    );
  });

  test('C26a, C29a a custom tool goes up as a function', () => {
    const text = upstreamText(
      convertChat({
        messages: ASKED,
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'apply_patch',
              description: 'd',
              format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: X' } },
            },
          },
        ],
      }),
    );
    const [tool] = JSON.parse(text).tools;
    assert.equal(tool.type, 'function');
    assert.equal(tool.function.name, 'apply_patch');
    assert.match(tool.function.description, /^d[\s\S]*start: X$/);
    assert.deepEqual(tool.function.parameters.required, ['input']);
  });

  test('C35a structured output, strict or not, goes up as it is', () => {
    const format = '{"type":"json_schema","json_schema":{"name":"a","strict":false,"schema":{"minimum":1.0}}}';
    assert.ok(
      upstreamText(convertChat(`{"messages":[{"role":"user","content":"q"}],"response_format":${format}}`)).includes(
        `"response_format":${format}`,
      ),
    );
  });
});

const REFUSED: readonly (readonly [id: string, body: Body, param: string])[] = [
  ['C15a previous_response_id', { messages: ASKED, previous_response_id: 'resp_1' }, 'previous_response_id'],
  [
    'C24a a file part',
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    'messages[0].content[0]',
  ],
  [
    'C24b an image by file_id',
    { messages: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
    'messages[0].content[0].file_id',
  ],
  [
    'C47a an unknown part',
    { messages: [{ role: 'user', content: [{ type: 'wonder' }] }] },
    'messages[0].content[0].type',
  ],
  ['C47b an unknown role', { messages: [{ role: 'wonder', content: 'x' }] }, 'messages[0].role'],
  [
    'C71a an Anthropic block',
    { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] },
    'messages[0].content[0].type',
  ],
  ['C100 several choices under capture', { messages: ASKED, n: 2 }, 'n'],
];

describe('what is refused by name', () => {
  for (const [id, body, param] of REFUSED)
    test(id, () => {
      assert.equal(refuseChat(body).param, param);
    });

  test('C100 several choices pass without capture', () => {
    assert.equal(JSON.parse(upstreamText(convertChat({ messages: ASKED, n: 2 }, UNCAPTURED))).n, 2);
  });
});

describe('JSON that we did not write', () => {
  const tools =
    '[{"type":"function","function":{"name":"f","parameters":{"minimum":1.0,"multipleOf":1e-7,"maximum":9223372036854775807,"10":0,"2":0}}}]';

  test('C152 numbers and key order of a tool schema', () => {
    const body = `{"messages":[{"role":"user","content":"q"}],"tools":${tools}}`;
    assert.equal(upstreamText(convertChat(body)), body);
  });

  test('C148, C149, C154 escapes of texts go up byte for byte', () => {
    const body =
      '{"messages":[{"role":"user","content":"\\ud83d \\u0000 \u2028 \\/ \\u00e9 {\\"n\\":12345678901234567890}"}]}';
    assert.equal(upstreamText(convertChat(body)), body);
  });

  test('C141 big integers of arguments go up as the client sent them', () => {
    const body = `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"id\\":2512292042121000001}"}}]},{"role":"user","content":"q"}]}`;
    assert.equal(upstreamText(convertChat(body)), body);
  });

  test('C135 changed tools make another render digest, spelling of null members does not', () => {
    const digest = (members: string) =>
      JSON.stringify(renderDigest(convertChat(`{"messages":[{"role":"user","content":"q"}]${members}}`).fields));
    assert.notEqual(digest(`,"tools":${tools}`), digest(''));
    assert.equal(
      digest(',"tools":null,"tool_choice":null,"parallel_tool_calls":null,"add_generation_prompt":true'),
      digest(''),
    );
    assert.equal(digest(',"tools":[],"tool_choice":"auto"'), digest(''));
  });
});
