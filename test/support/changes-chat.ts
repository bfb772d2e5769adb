import { type Body, type DialectChanges, differs, renders } from './one-change.ts';

/** Chat has the most ways to say a thing, so it has the longest list. */

const TOOL = {
  type: 'function',
  function: {
    name: 'f',
    description: 'Does f.',
    parameters: { type: 'object', properties: { a: { enum: [1, null] } }, required: ['a'] },
  },
};
const OTHER_TOOL = { type: 'function', function: { name: 'g', parameters: { type: 'object' } } };
const PICTURE = 'data:image/png;base64,AAAA';
const FIRST = {
  model: 'policy',
  tools: [TOOL, OTHER_TOOL],
  messages: [
    { role: 'system', content: 'You help.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look at the café.' },
        { type: 'image_url', image_url: { url: PICTURE } },
      ],
    },
  ],
};
/** Served by the first call; the changes are made before the third one. */
const TURN = {
  reasoning: 'Let me think.',
  content: 'Looking: ',
  tool_calls: [
    { id: 'c1', name: 'f', arguments: '{"a": 1.50, "b": [1, 2], "c": {"d": "é", "e": null}}' },
    { id: 'c2', name: 'g', arguments: '{}' },
  ],
};

type Message = Readonly<Record<string, unknown>>;
type Request = Body & { readonly messages: readonly Message[] };
/** Its messages are system, user, assistant, tool, tool, assistant, user. */
type Change = (body: Request) => Body;

/** Changes one message. */
const at =
  (index: number, change: (message: Message) => Message): Change =>
  (body) => ({ ...body, messages: body.messages.with(index, change(body.messages[index] as Message)) });
const turn = (members: object): Change => at(2, (message) => ({ ...message, ...members }));
const callArguments = (text: string): Change =>
  at(2, (message) => {
    const [first, ...others] = message.tool_calls as { function: object }[];
    return { ...message, tool_calls: [{ ...first, function: { name: 'f', arguments: text } }, ...others] };
  });
const calls = (change: (calls: readonly object[]) => readonly object[]): Change =>
  at(2, (message) => ({ ...message, tool_calls: change(message.tool_calls as object[]) }));
const user = (...content: object[]): Change => at(1, (message) => ({ ...message, content }));
const LOOK = { type: 'text', text: 'Look at the café.' };
const image = (members: object) => ({ type: 'image_url', image_url: { url: PICTURE, ...members } });
const tool =
  (members: object): Change =>
  (body) => ({
    ...body,
    tools: [{ type: 'function', function: { ...TOOL.function, ...members } }, OTHER_TOOL],
  });
const CASES: DialectChanges<Request>['cases'] = {
  texts: [
    [
      'one text as string or list',
      at(0, (message) => ({ ...message, content: [{ type: 'text', text: 'You help.' }] })),
      null,
    ],
    [
      'a character of the instructions',
      at(0, (message) => ({ ...message, content: 'You help!' })),
      differs(0, 'system', 'text'),
    ],
    [
      'a blank at the end of a tool output',
      at(3, (message) => ({ ...message, content: 'one ' })),
      differs(3, 'tool', 'text'),
    ],
    [
      'an accent composed otherwise',
      user({ type: 'text', text: 'Look at the cafe\u0301.' }, image({})),
      differs(1, 'user', 'text'),
    ],
    [
      'an answer in two parts',
      turn({
        content: [
          { type: 'text', text: 'Look' },
          { type: 'text', text: 'ing: ' },
        ],
      }),
      null,
    ],
    ['a blank of the answer lost', turn({ content: 'Looking:' }), differs(2, 'assistant', 'text')],
    [
      'a user text in two parts',
      user({ type: 'text', text: 'Look at ' }, { type: 'text', text: 'the café.' }, image({})),
      differs(1, 'user', 'text'),
    ],
    ['cache_control on a part', user({ ...LOOK, cache_control: { type: 'ephemeral' } }, image({})), null],
  ],
  images: [
    ['detail auto said or not', user(LOOK, image({ detail: 'auto' })), null],
    ['another detail', user(LOOK, image({ detail: 'high' })), differs(1, 'user', 'media')],
    ['another image', user(LOOK, image({ url: 'data:image/png;base64,AAAB' })), differs(1, 'user', 'media')],
    ['the image before the text', user(image({}), LOOK), differs(1, 'user', 'order')],
  ],
  'roles and order': [
    ['developer for system', at(0, (message) => ({ ...message, role: 'developer' })), null],
    [
      'the instructions as a user message',
      at(0, (message) => ({ ...message, role: 'user' })),
      differs(0, 'user', 'role'),
    ],
    [
      'tool outputs in another order',
      (body) => ({ ...body, messages: [0, 1, 2, 4, 3, 5, 6].map((index) => body.messages[index]) }),
      differs(3, 'tool', 'order'),
    ],
    [
      'a message more before the turn',
      (body) => ({ ...body, messages: body.messages.toSpliced(1, 0, { role: 'user', content: 'Hm.' }) }),
      differs(1, 'user', 'inserted'),
    ],
    [
      'a late system message',
      (body) => ({ ...body, messages: [...body.messages, { role: 'system', content: 'Hurry.' }] }),
      { cause: 'suffix_role', index: 7, role: 'system' },
    ],
  ],
  reasoning: [
    [
      'under its other name',
      at(2, ({ reasoning, ...message }) => ({ ...message, reasoning_content: reasoning })),
      null,
    ],
    ['a character of it', turn({ reasoning: 'Let me think!' }), differs(2, 'assistant', 'reasoning')],
    ['dropped', turn({ reasoning: null }), differs(2, 'assistant', 'reasoning')],
    ['twice', turn({ reasoning: 'Let me think.\nLet me think.' }), differs(2, 'assistant', 'reasoning')],
  ],
  arguments: [
    ['spelled otherwise', callArguments('{"c":{"e":null,"d":"\\u00e9"},"b":[1,2.0],"a":15e-1}'), null],
    [
      'a duplicate before the last one',
      callArguments('{"a": 9, "a": 1.50, "b": [1, 2], "c": {"d": "é", "e": null}}'),
      null,
    ],
    [
      'the next number',
      callArguments('{"a": 1.5000000000000002, "b": [1, 2], "c": {"d": "é", "e": null}}'),
      differs(2, 'assistant', 'arguments', { call_index: 0, arguments: ['a'] }),
    ],
    [
      'a number as a string',
      callArguments('{"a": "1.5", "b": [1, 2], "c": {"d": "é", "e": null}}'),
      differs(2, 'assistant', 'arguments', { arguments: ['a'] }),
    ],
    [
      'a list in another order',
      callArguments('{"a": 1.50, "b": [2, 1], "c": {"d": "é", "e": null}}'),
      differs(2, 'assistant', 'arguments', { arguments: ['b'] }),
    ],
    [
      'a null left out',
      callArguments('{"a": 1.50, "b": [1, 2], "c": {"d": "é"}}'),
      differs(2, 'assistant', 'arguments', { arguments: ['c'] }),
    ],
    [
      'an argument more',
      callArguments('{"a": 1.50, "b": [1, 2], "c": {"d": "é", "e": null}, "f": 0}'),
      differs(2, 'assistant', 'arguments', { arguments: ['f'] }),
    ],
    [
      'no JSON',
      callArguments('{"a": 1.50, "b": [1, 2], "c": {"d": "é", "e": null}'),
      differs(2, 'assistant', 'arguments', { call_index: 0 }),
    ],
  ],
  calls: [
    ['index and null members', calls((list) => list.map((call, index) => ({ index, namespace: null, ...call }))), null],
    [
      'another name',
      calls(([, second]) => [
        { id: 'c1', type: 'function', function: { name: 'g', arguments: TURN.tool_calls[0]?.arguments } },
        second as object,
      ]),
      differs(2, 'assistant', 'name', { call_index: 0 }),
    ],
    [
      'another id',
      calls(([first, second]) => [{ ...first, id: 'c1x' }, second as object]),
      differs(2, 'assistant', 'call_id', { call_index: 0 }),
    ],
    ['another order', calls((list) => list.toReversed()), differs(2, 'assistant', 'order')],
    ['one less', calls((list) => list.slice(0, 1)), differs(2, 'assistant', 'partial_echo')],
    [
      'one more',
      calls((list) => [...list, { id: 'c3', type: 'function', function: { name: 'g', arguments: '{}' } }]),
      differs(2, 'assistant', 'calls'),
    ],
  ],
  'what shapes the prompt': [
    ['how answers are sampled', (body) => ({ ...body, temperature: 0.3, max_tokens: 99, seed: 1, user: 'me' }), null],
    ['a null below the top', tool({ strict: null }), null],
    [
      'keys of a tool in another order',
      (body) => ({ ...body, tools: [JSON.parse(JSON.stringify(TOOL), reversed), OTHER_TOOL] }),
      null,
    ],
    ['a character of a description', tool({ description: 'Does f!' }), renders('tools')],
    [
      'an element of a schema',
      tool({ parameters: { ...TOOL.function.parameters, properties: { a: { enum: [1] } } } }),
      renders('tools'),
    ],
    ['a required argument less', tool({ parameters: { ...TOOL.function.parameters, required: [] } }), renders('tools')],
    [
      'a tool more',
      (body) => ({ ...body, tools: [TOOL, OTHER_TOOL, { type: 'function', function: { name: 'h' } }] }),
      renders('tools'),
    ],
    ['tools in another order', (body) => ({ ...body, tools: [OTHER_TOOL, TOOL] }), renders('tools')],
    ['a tool choice', (body) => ({ ...body, tool_choice: 'required' }), renders('tool_choice')],
    ['no parallel calls', (body) => ({ ...body, parallel_tool_calls: false }), renders('parallel_tool_calls')],
    ['another effort', (body) => ({ ...body, reasoning_effort: 'high' }), renders('reasoning_effort')],
    [
      'a template argument',
      (body) => ({ ...body, chat_template_kwargs: { enable_thinking: false } }),
      renders('chat_template_kwargs'),
    ],
    ['another model', (body) => ({ ...body, model: 'policy-2' }), renders('model')],
  ],
};

function reversed(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse());
}

const messageOf = (served: Body | undefined): Message =>
  (served?.choices as { message: Message }[] | undefined)?.[0]?.message ?? {};

/** The request after so many replies. */
function request([first, second]: readonly Body[]): Request {
  const outputs = ['one', 'two'].map((content, index) => ({ role: 'tool', tool_call_id: `c${index + 1}`, content }));
  return {
    ...FIRST,
    messages: [
      ...FIRST.messages,
      ...(first === undefined ? [] : [messageOf(first), ...outputs]),
      ...(second === undefined ? [] : [messageOf(second), { role: 'user', content: 'Go on.' }]),
    ],
  };
}

export const CHAT_CHANGES: DialectChanges<Request> = { dialect: 'chat', turn: TURN, request, cases: CASES };
