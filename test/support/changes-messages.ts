import { type Body, type DialectChanges, differs, renders } from './one-change.ts';

const TOOL = {
  name: 'f',
  description: 'Does f.',
  input_schema: { type: 'object', properties: { a: { type: 'number' } } },
};
const OTHER_TOOL = { name: 'g', input_schema: { type: 'object' } };
const TEXT = { type: 'text', text: 'Look at this.' };
const picture = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
const SETTINGS = { model: 'policy', max_tokens: 1024, system: 'You help.', tools: [TOOL, OTHER_TOOL] };
const TURN = {
  reasoning: 'Let me think.',
  content: 'Looking: ',
  tool_calls: [
    { id: 'c1', name: 'f', arguments: '{"a": 1.50, "b": ["x", "é"]}' },
    { id: 'c2', name: 'g', arguments: '{}' },
  ],
};

type Block = Readonly<Record<string, unknown>>;
interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}
/** Its messages are user, assistant, user (two results), assistant, user; for the engine: system, user, assistant, tool, tool, assistant, user. */
type Request = Body & { readonly messages: readonly Message[] };
type Change = (body: Request) => Body;

function request([first, second]: readonly Body[]): Request {
  const results = ['one', 'two'].map((content, at) => ({ type: 'tool_result', tool_use_id: `c${at + 1}`, content }));
  const turnOf = (served: Body): Message => ({ role: 'assistant', content: served.content as readonly Block[] });
  return {
    ...SETTINGS,
    messages: [
      { role: 'user', content: [TEXT, picture('AAAA')] },
      ...(first === undefined ? [] : [turnOf(first), { role: 'user', content: results }]),
      ...(second === undefined ? [] : [turnOf(second), { role: 'user', content: 'Go on.' }]),
    ],
  };
}

/** Changes the blocks of one message. */
const blocks =
  (index: number, change: (blocks: readonly Block[]) => readonly Block[]): Change =>
  (body) => {
    const { role = '', content = [] } = body.messages[index] ?? {};
    return { ...body, messages: body.messages.with(index, { role, content: change(content as readonly Block[]) }) };
  };
/** The turn is thinking, text, call, call. */
const block = (index: number, members: object): Change =>
  blocks(1, (list) => list.with(index, { ...list[index], ...members }));
const order = (...indexes: number[]): Change => blocks(1, (list) => indexes.map((index) => list[index] ?? {}));
const result = (members: object): Change => blocks(2, ([first, ...rest]) => [{ ...first, ...members }, ...rest]);
const tool =
  (members: object): Change =>
  (body) => ({ ...body, tools: [{ ...TOOL, ...members }, OTHER_TOOL] });
const CACHED = { cache_control: { type: 'ephemeral' } };

const CASES: DialectChanges<Request>['cases'] = {
  texts: [
    ['instructions as blocks', (body) => ({ ...body, system: [{ type: 'text', text: 'You help.', ...CACHED }] }), null],
    [
      'a billing header before them',
      (body) => ({
        ...body,
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.100.7b4; cc_entrypoint=cli; cch=eb6c6;' },
          { type: 'text', text: 'You help.' },
        ],
      }),
      null,
    ],
    ['a character of the instructions', (body) => ({ ...body, system: 'You help!' }), differs(0, 'system', 'text')],
    ['cache_control that moves', blocks(0, ([text = {}, image = {}]) => [text, { ...image, ...CACHED }]), null],
    [
      'a character of a user text',
      blocks(0, ([, image = {}]) => [{ ...TEXT, text: 'Look at that.' }, image]),
      differs(1, 'user', 'text'),
    ],
    ['another image', blocks(0, () => [TEXT, picture('AAAB')]), differs(1, 'user', 'media')],
    [
      'an answer in two blocks',
      blocks(1, ([thinking = {}, , ...calls]) => [
        thinking,
        { type: 'text', text: 'Look' },
        { type: 'text', text: 'ing: ' },
        ...calls,
      ]),
      null,
    ],
    ['a blank of the answer lost', block(1, { text: 'Looking:' }), differs(2, 'assistant', 'text')],
    ['a result as a list, not failed', result({ content: [{ type: 'text', text: 'one' }], is_error: false }), null],
    ['a character of a result', result({ content: 'One' }), differs(3, 'tool', 'text')],
    ['results in another order', blocks(2, (list) => list.toReversed()), differs(3, 'tool', 'order')],
    [
      'results in messages of their own',
      (body) => ({
        ...body,
        messages: body.messages.flatMap((message, index) =>
          index === 2 && typeof message.content !== 'string'
            ? message.content.map((one) => ({ role: 'user', content: [one] }))
            : [message],
        ),
      }),
      null,
    ],
  ],
  thinking: [
    ['only its signature', block(0, { thinking: '' }), null],
    ['only its text', block(0, { signature: '' }), null],
    ['a character of it', block(0, { thinking: 'Let me think!', signature: '' }), differs(2, 'assistant', 'reasoning')],
    ['dropped', order(1, 2, 3), differs(2, 'assistant', 'reasoning')],
  ],
  calls: [
    ['members of the client', block(2, { caller: { type: 'direct' }, ...CACHED }), null],
    ['arguments in another order', block(2, { input: { b: ['x', 'é'], a: 1.5 } }), null],
    [
      'one argument',
      block(2, { input: { a: 1.5, b: ['x'] } }),
      differs(2, 'assistant', 'arguments', { call_index: 0, arguments: ['b'] }),
    ],
    [
      'a number as a string',
      block(2, { input: { a: '1.5', b: ['x', 'é'] } }),
      differs(2, 'assistant', 'arguments', { arguments: ['a'] }),
    ],
    ['another name', block(3, { name: 'f' }), differs(2, 'assistant', 'name', { call_index: 1 })],
    ['another id', block(3, { id: 'c2x' }), differs(2, 'assistant', 'call_id', { call_index: 1 })],
    ['another order', order(0, 1, 3, 2), differs(2, 'assistant', 'order')],
    ['one less', order(0, 1, 2), differs(2, 'assistant', 'partial_echo')],
    [
      'one more',
      blocks(1, (list) => [...list, { type: 'tool_use', id: 'c3', name: 'g', input: {} }]),
      differs(2, 'assistant', 'calls'),
    ],
  ],
  'what shapes the prompt': [
    [
      'members that do not',
      (body) => ({ ...body, temperature: 0.3, max_tokens: 99, metadata: { user_id: 'me' } }),
      null,
    ],
    ['cache_control on a tool', tool(CACHED), null],
    ['a character of a description', tool({ description: 'Does F.' }), renders('tools')],
    ['an argument of a schema', tool({ input_schema: { type: 'object', properties: {} } }), renders('tools')],
    ['a tool less', (body) => ({ ...body, tools: [TOOL] }), renders('tools')],
    ['a tool choice', (body) => ({ ...body, tool_choice: { type: 'any' } }), renders('tool_choice')],
  ],
};

export const MESSAGES_CHANGES: DialectChanges<Request> = { dialect: 'messages', turn: TURN, request, cases: CASES };
