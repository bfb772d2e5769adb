import { type Body, type DialectChanges, differs, renders } from './one-change.ts';

const TOOL = {
  type: 'function',
  name: 'f',
  description: 'Does f.',
  strict: false,
  parameters: { type: 'object', properties: { a: { type: 'number' } } },
};
const OTHER_TOOL = { type: 'function', name: 'g', parameters: { type: 'object' } };
const PICTURE = 'data:image/png;base64,AAAA';
const FIRST_MESSAGE = {
  role: 'user',
  content: [
    { type: 'input_text', text: 'Look at this.' },
    { type: 'input_image', image_url: PICTURE },
  ],
};
const SETTINGS = {
  model: 'policy',
  store: false,
  include: ['reasoning.encrypted_content'],
  instructions: 'You help.',
  tools: [TOOL, OTHER_TOOL],
};
const TURN = {
  reasoning: 'Let me think.',
  content: 'Looking: ',
  tool_calls: [
    { id: 'c1', name: 'f', arguments: '{"a": 1.50, "b": ["x", "é"]}' },
    { id: 'c2', name: 'g', arguments: '{}' },
  ],
};

type Item = Readonly<Record<string, unknown>>;
/** Its items are user, reasoning, message, call, call, output, output, message, user; for the engine: system, user, assistant, tool, tool, assistant, user. */
type Request = Body & { readonly input: readonly Item[] };
type Change = (body: Request) => Body;

function request([first, second]: readonly Body[]): Request {
  const outputs = ['one', 'two'].map((output, at) => ({ type: 'function_call_output', call_id: `c${at + 1}`, output }));
  const outputOf = (served: Body) => served.output as readonly Item[];
  return {
    ...SETTINGS,
    input: [
      FIRST_MESSAGE,
      ...(first === undefined ? [] : [...outputOf(first), ...outputs]),
      ...(second === undefined ? [] : [...outputOf(second), { role: 'user', content: 'Go on.' }]),
    ],
  };
}

/** Changes one item. */
const at =
  (index: number, change: (item: Item) => Item): Change =>
  (body) => ({ ...body, input: body.input.with(index, change(body.input[index] as Item)) });
const set = (index: number, members: object): Change => at(index, (item) => ({ ...item, ...members }));
const order = (...indexes: number[]): Change => {
  return (body) => ({ ...body, input: indexes.map((index) => body.input[index]) });
};
const without = (item: Item, ...names: string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));
const tool =
  (members: object): Change =>
  (body) => ({ ...body, tools: [{ ...TOOL, ...members }, OTHER_TOOL] });
const picture = (members: object): Change =>
  set(0, { content: [FIRST_MESSAGE.content[0], { ...FIRST_MESSAGE.content[1], ...members }] });

const CASES: DialectChanges<Request>['cases'] = {
  texts: [
    [
      'instructions as a developer message',
      ({ instructions, input, ...body }) => ({
        ...body,
        input: [{ role: 'developer', content: instructions }, ...input],
      }),
      null,
    ],
    [
      'a character of the instructions',
      (body) => ({ ...body, instructions: 'You help!' }),
      differs(0, 'system', 'text'),
    ],
    [
      'ids, status and annotations gone',
      at(2, (item) => ({
        role: 'assistant',
        content: [{ type: 'output_text', text: (item.content as { text: string }[])[0]?.text }],
      })),
      null,
    ],
    ['an answer as a string', set(2, { content: 'Looking: ' }), null],
    ['a blank of the answer lost', set(2, { content: 'Looking:' }), differs(2, 'assistant', 'text')],
    ['an output as a list', set(5, { output: [{ type: 'input_text', text: 'one' }] }), null],
    [
      'an output in two parts',
      set(5, {
        output: [
          { type: 'input_text', text: 'o' },
          { type: 'input_text', text: 'ne' },
        ],
      }),
      differs(3, 'tool', 'text'),
    ],
    ['a character of an output', set(6, { output: 'two.' }), differs(4, 'tool', 'text')],
    ['outputs in another order', order(0, 1, 2, 3, 4, 6, 5, 7, 8), differs(3, 'tool', 'order')],
    [
      'a late developer message',
      (body) => ({ ...body, input: [...body.input, { role: 'developer', content: 'Hurry.' }] }),
      null,
    ],
  ],
  images: [
    ['detail auto said or not', picture({ detail: 'auto' }), null],
    ['another detail', picture({ detail: 'low' }), differs(1, 'user', 'media')],
    ['another image', picture({ image_url: `${PICTURE}BBBB` }), differs(1, 'user', 'media')],
  ],
  reasoning: [
    ['only its summary', at(1, (item) => without(item, 'content', 'encrypted_content', 'id')), null],
    ['only its content', at(1, (item) => ({ ...without(item, 'id'), summary: [], encrypted_content: null })), null],
    ['only what is sealed', at(1, (item) => ({ ...without(item, 'content'), summary: [] })), null],
    ['after the message, before the calls', order(0, 2, 1, 3, 4, 5, 6, 7, 8), null],
    [
      'a character of it',
      set(1, { content: [{ type: 'reasoning_text', text: 'Let me think!' }], encrypted_content: null }),
      differs(2, 'assistant', 'reasoning'),
    ],
    ['dropped', order(0, 2, 3, 4, 5, 6, 7, 8), differs(2, 'assistant', 'reasoning')],
  ],
  calls: [
    ['without ids and status', at(3, (item) => ({ ...without(item, 'id', 'status'), namespace: null })), null],
    ['arguments spelled otherwise', set(3, { arguments: '{"b":["x","\\u00e9"],"a":1.5}' }), null],
    ['the message after the calls', order(0, 1, 3, 4, 2, 5, 6, 7, 8), null],
    [
      'one argument',
      set(3, { arguments: '{"a": 1.5, "b": ["x", "e"]}' }),
      differs(2, 'assistant', 'arguments', { call_index: 0, arguments: ['b'] }),
    ],
    ['another name', set(4, { name: 'h' }), differs(2, 'assistant', 'name', { call_index: 1 })],
    ['another order', order(0, 1, 2, 4, 3, 5, 6, 7, 8), differs(2, 'assistant', 'order')],
    [
      'one less',
      order(0, 1, 2, 3, 5, 7, 8),
      differs(2, 'assistant', 'partial_echo', { echoed_items: 3, served_items: 4 }),
    ],
    ['the message less', order(0, 1, 3, 4, 5, 6, 7, 8), differs(2, 'assistant', 'text')],
  ],
  'what shapes the prompt': [
    [
      'members that do not',
      (body) => ({
        ...body,
        temperature: 0.3,
        metadata: { a: 'b' },
        prompt_cache_key: 'k',
        text: { verbosity: 'low' },
      }),
      null,
    ],
    [
      'keys in another order',
      (body) => ({ ...body, tools: [Object.fromEntries(Object.entries(TOOL).reverse()), OTHER_TOOL] }),
      null,
    ],
    ['a character of a description', tool({ description: 'Does F.' }), renders('tools')],
    [
      'an argument of a schema',
      tool({ parameters: { type: 'object', properties: { a: { type: 'integer' } } } }),
      renders('tools'),
    ],
    ['tools in another order', (body) => ({ ...body, tools: [OTHER_TOOL, TOOL] }), renders('tools')],
    ['an effort', (body) => ({ ...body, reasoning: { effort: 'low' } }), renders('reasoning_effort')],
    ['no parallel calls', (body) => ({ ...body, parallel_tool_calls: false }), renders('parallel_tool_calls')],
  ],
};

export const RESPONSES_CHANGES: DialectChanges<Request> = { dialect: 'responses', turn: TURN, request, cases: CASES };
