import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AssistantMessage } from '../../../../src/protocol/conversation.ts';
import { chatUp, convertChat, refuseChat, UNCAPTURED } from '../../../support/chat-conversion.ts';

/** Messages as the engine gets them, told by message: in, up. */
const UP: readonly (readonly [what: string, message: object, up: object])[] = [
  ['a string', { role: 'user', content: 'a' }, { role: 'user', content: 'a' }],
  ['a list of one text', { role: 'user', content: [{ type: 'text', text: 'a' }] }, { role: 'user', content: 'a' }],
  [
    'a list of two texts',
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ],
  ['an empty list', { role: 'user', content: [] }, { role: 'user', content: '' }],
  [
    'plain strings as parts',
    { role: 'user', content: ['a', 'b'] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ],
  [
    'the parts of Responses',
    { role: 'user', content: [{ type: 'input_text', text: 'a' }] },
    { role: 'user', content: 'a' },
  ],
  ['a part without type', { role: 'user', content: [{ text: 'a' }] }, { role: 'user', content: 'a' }],
  ['a system message', { role: 'system', content: 's' }, { role: 'system', content: 's' }],
  ['a developer message', { role: 'developer', content: 's' }, { role: 'system', content: 's' }],
  ['a named user', { role: 'user', content: 'a', name: 'bob' }, { role: 'user', content: 'a', name: 'bob' }],
  ['a null name', { role: 'user', content: 'a', name: null }, { role: 'user', content: 'a' }],
  [
    'an image',
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', detail: null } }] },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u' } }] },
  ],
  [
    'an image with detail and extras',
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'u', detail: 'high' }, prompt_cache_breakpoint: { mode: 'explicit' } },
      ],
    },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', detail: 'high' } }] },
  ],
  [
    'an image of Responses',
    { role: 'user', content: [{ type: 'input_image', image_url: 'u', detail: 'low' }] },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', detail: 'low' } }] },
  ],
  [
    'audio and video',
    {
      role: 'user',
      content: [
        { type: 'input_audio', input_audio: { data: 'x', format: 'wav' }, cache_control: {} },
        { type: 'video_url', video_url: { url: 'v' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } },
        { type: 'video_url', video_url: { url: 'v' } },
      ],
    },
  ],
  [
    'parts whose type is null',
    {
      role: 'user',
      content: [
        { type: null, text: 'a' },
        { type: null, image_url: { url: 'u' } },
        { type: null, input_audio: { data: 'x', format: 'wav' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'u' } },
        { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } },
      ],
    },
  ],
  [
    'a call whose type is null',
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: null, function: { name: 'f', arguments: '{}' } }],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
  ],
  ['a result', { role: 'tool', tool_call_id: 'c', content: 'ok' }, { role: 'tool', tool_call_id: 'c', content: 'ok' }],
  [
    'a result with a name',
    { role: 'tool', tool_call_id: 'c', name: 'f', content: 'ok' },
    { role: 'tool', tool_call_id: 'c', content: 'ok' },
  ],
  [
    'a result without content',
    { role: 'tool', tool_call_id: 'c', content: null },
    { role: 'tool', tool_call_id: 'c', content: '' },
  ],
  [
    'a result of two texts',
    {
      role: 'tool',
      tool_call_id: 'c',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'c',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ],
  ['a result without id', { role: 'tool', content: 'ok' }, { role: 'tool', content: 'ok' }],
];

for (const [what, message, up] of UP)
  test(`goes up: ${what}`, () => {
    assert.deepEqual(chatUp(message), [up]);
  });

test('messages stay one for one, in order, late system messages in place, neighbours unmerged', () => {
  const roles = ['developer', 'system', 'user', 'user', 'assistant', 'assistant', 'developer', 'user'];
  const up = chatUp(...roles.map((role, at) => ({ role, content: `${at}` }))) as { role: string; content: string }[];
  assert.deepEqual(
    up.map((message) => `${message.role} ${message.content}`),
    ['system 0', 'system 1', 'user 2', 'user 3', 'assistant 4', 'assistant 5', 'system 6', 'user 7'],
  );
});

test('images of tool results follow in one user message after the run of them', () => {
  const image = { type: 'image_url', image_url: { url: 'u' } };
  const up = chatUp(
    { role: 'tool', tool_call_id: 'a', content: [image] },
    { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'see' }, image] },
    { role: 'user', content: 'q' },
    { role: 'tool', tool_call_id: 'c', content: [image] },
  );
  assert.deepEqual(up, [
    { role: 'tool', tool_call_id: 'a', content: '[image attached below]' },
    {
      role: 'tool',
      tool_call_id: 'b',
      content: [
        { type: 'text', text: 'see' },
        { type: 'text', text: '[image attached below]' },
      ],
    },
    { role: 'user', content: [image, image] },
    { role: 'user', content: 'q' },
    { role: 'tool', tool_call_id: 'c', content: '[image attached below]' },
    { role: 'user', content: [image] },
  ]);
});

test('the ids of a turn are those that the client sent', () => {
  const request = convertChat({
    messages: [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        id: 'msg_1',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
          { type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
    ],
  });
  assert.deepEqual((request.messages[1] as AssistantMessage).echoedIds, ['msg_1', 'c1']);
});

const REFUSED: readonly (readonly [param: string, body: object, message: RegExp])[] = [
  ['messages', {}, /expected an array, got nothing/],
  ['messages', { messages: null }, /expected an array, got null/],
  ['messages', { messages: 'hi' }, /expected an array, got a string/],
  ['messages', { messages: [] }, /at least one message/],
  ['messages[0]', { messages: ['hi'] }, /expected an object, got a string/],
  ['messages[0].role', { messages: [{ content: 'a' }] }, /expected a string, got nothing/],
  ['messages[0].role', { messages: [{ role: 5, content: 'a' }] }, /expected a string, got a number/],
  ['messages[0].role', { messages: [{ role: 'wizard', content: 'a' }] }, /unknown role "wizard"/],
  ['messages[0].role', { messages: [{ role: 'function', name: 'f', content: 'a' }] }, /legacy role "function"/],
  ['messages[1].content', { messages: [{ role: 'user', content: 'a' }, { role: 'user' }] }, /got nothing/],
  ['messages[0].content', { messages: [{ role: 'system', content: null }] }, /got null/],
  ['messages[0].content', { messages: [{ role: 'user', content: 5 }] }, /got a number/],
  ['messages[0].content[0]', { messages: [{ role: 'user', content: [5] }] }, /got a number/],
  ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{}] }] }, /needs a type/],
  ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'wonder' }] }] }, /"wonder"/],
  ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 5, text: 'a' }] }] }, /got a number/],
  [
    'messages[0].content[0].type',
    { messages: [{ role: 'user', content: [{ type: ['text'], text: 'a' }] }] },
    /expected a string, got an array/,
  ],
  [
    'messages[0].content[0].type',
    { messages: [{ role: 'tool', tool_call_id: 'c', content: [{ text: 'hi', score: 5 }] }] },
    /needs a type/,
  ],
  [
    'messages[0].content[0].text',
    { messages: [{ role: 'user', content: [{ type: 'text', text: null }] }] },
    /got null/,
  ],
  [
    'messages[0].content[1]',
    { messages: [{ role: 'user', content: ['a', { type: 'file', file: { file_id: 'x' } }] }] },
    /file parts/,
  ],
  [
    'messages[0].content[0].image_url',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
    /got nothing/,
  ],
  [
    'messages[0].content[0].file_id',
    { messages: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
    /file_id/,
  ],
  [
    'messages[0].content[0].input_audio',
    { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: 'x' }] }] },
    /got a string/,
  ],
  ['messages[0].name', { messages: [{ role: 'user', content: 'a', name: 5 }] }, /got a number/],
  ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'a', tool_call_id: 5 }] }, /got a number/],
  ['messages[0].content', { messages: [{ role: 'assistant', content: {} }] }, /got an object/],
  ['messages[0].reasoning', { messages: [{ role: 'assistant', reasoning: {} }] }, /got an object/],
  ['messages[0].audio', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }, /audio/],
  ['messages[0].function_call', { messages: [{ role: 'assistant', function_call: { name: 'f' } }] }, /legacy/],
  ['messages[0].tool_calls', { messages: [{ role: 'assistant', tool_calls: {} }] }, /got an object/],
  ['messages[0].tool_calls[0]', { messages: [{ role: 'assistant', tool_calls: [5] }] }, /got a number/],
  ['messages[0].tool_calls[0].id', { messages: [{ role: 'assistant', tool_calls: [{ id: 5 }] }] }, /got a number/],
  [
    'messages[0].tool_calls[0].type',
    { messages: [{ role: 'assistant', tool_calls: [{ type: 'wonder' }] }] },
    /"wonder"/,
  ],
  [
    'messages[0].tool_calls[0].type',
    { messages: [{ role: 'assistant', tool_calls: [{ type: false, function: { name: 'f' } }] }] },
    /expected a string, got a boolean/,
  ],
  [
    'messages[0].tool_calls[0].function',
    { messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] },
    /got nothing/,
  ],
  [
    'messages[0].tool_calls[0].function.name',
    { messages: [{ role: 'assistant', tool_calls: [{ function: {} }] }] },
    /needs the name/,
  ],
  [
    'messages[0].tool_calls[0].custom.input',
    { messages: [{ role: 'assistant', tool_calls: [{ type: 'custom', custom: { name: 'f' } }] }] },
    /got nothing/,
  ],
];

for (const [param, body, message] of REFUSED)
  test(`refused by name: ${param} of ${JSON.stringify(body)}`, () => {
    const refusal = refuseChat(body, UNCAPTURED);
    assert.equal(refusal.param, param);
    assert.match(refusal.message, message);
    assert.ok(refusal.message.startsWith(`${param}: `));
  });

for (const body of ['[]', '"x"', '5', 'null', 'true'])
  test(`a body that is ${body} is refused`, () => {
    assert.match(refuseChat(body).message, /^the body must be a JSON object, not /);
  });

test('a prefill is refused under capture and goes up without it', () => {
  const body = {
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'The answer is' },
    ],
  };
  assert.equal(refuseChat(body).param, 'messages');
  assert.equal(convertChat(body, UNCAPTURED).messages.length, 2);
});
