import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { EngineAnswer } from '../../../../src/protocol/conversation.ts';
import { type Relation, relation } from '../../../support/chat-echo.ts';

/** Random answers, served, echoed in every style that a client is known to have, or rewritten in every way that one is. */

type Message = Record<string, unknown>;
interface Call {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

const calls = (message: Message): Call[] => (message.tool_calls ?? []) as Call[];
const withArguments = (message: Message, change: (args: string) => unknown): Message =>
  message.tool_calls === undefined
    ? message
    : {
        ...message,
        tool_calls: calls(message).map((call) => ({
          ...call,
          function: { ...call.function, arguments: change(call.function.arguments) },
        })),
      };

function parsed(args: string): unknown {
  try {
    return JSON.parse(args === '' ? '{}' : args);
  } catch {
    return undefined;
  }
}
const reprinted = (print: (value: unknown) => string) => (message: Message) =>
  withArguments(message, (args) => (parsed(args) === undefined ? args : print(parsed(args))));

/** As Python's json.dumps: spaces after separators, everything outside ASCII escaped. */
function python(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, inner]) => `${python(key)}: ${python(inner)}`)
      .join(', ')}}`;
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, reversed(inner)]),
    );
  return value;
}

const renamed = ({ reasoning, ...rest }: Message): Message =>
  reasoning === undefined ? rest : { ...rest, reasoning_content: reasoning };

/** The same turn. */
const STYLES: readonly (readonly [style: string, echo: (message: Message) => Message])[] = [
  ['verbatim', (message) => message],
  ['keys reversed', (message) => Object.fromEntries(Object.entries(message).reverse())],
  ['reasoning_content', renamed],
  [
    'both names',
    (message) => ({ ...message, ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }) }),
  ],
  ['an empty reasoning_content added', (message) => ({ reasoning_content: '', ...renamed(message) })],
  [
    'nulls of a dump',
    (message) => ({
      function_call: null,
      tool_calls: null,
      audio: null,
      annotations: null,
      reasoning: null,
      ...message,
      refusal: message.refusal ?? null,
    }),
  ],
  ['no null keys', (message) => Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null))],
  [
    'text as a list of parts',
    (message) =>
      typeof message.content === 'string'
        ? { ...message, content: [{ type: 'text', text: message.content, annotations: [], role: 'assistant' }] }
        : message,
  ],
  [
    'text in two parts',
    (message) =>
      typeof message.content === 'string'
        ? { ...message, content: [...message.content].length > 1 ? halves(message.content) : message.content }
        : message,
  ],
  ['arguments re-printed by JavaScript', reprinted((value) => JSON.stringify(value))],
  ['arguments re-printed by Python', reprinted(python)],
  ['arguments with other key order', reprinted((value) => JSON.stringify(reversed(value), null, 1))],
  [
    'arguments as objects',
    (message) =>
      withArguments(message, (args) =>
        typeof parsed(args) === 'object' && parsed(args) !== null && args !== '' ? parsed(args) : args,
      ),
  ],
  [
    'an index and no type on calls',
    (message) =>
      message.tool_calls === undefined
        ? message
        : { ...message, tool_calls: calls(message).map(({ type: _, ...call }, index) => ({ ...call, index })) },
  ],
  [
    'ids, status and the like added',
    (message) => ({
      id: 'msg_1',
      status: 'completed',
      phase: null,
      cache_control: { type: 'ephemeral' },
      provider_specific_fields: {},
      ...message,
    }),
  ],
  [
    'token data added',
    (message) => ({ ...message, prompt_token_ids: [1], generation_token_ids: [2], generation_log_probs: [-0.5] }),
  ],
];

function halves(text: string): object[] {
  const points = [...text];
  const middle = points.length >> 1;
  return [points.slice(0, middle), points.slice(middle)].map((half) => ({ type: 'text', text: half.join('') }));
}

/** Another turn, where the answer has the part that is rewritten. */
const REWRITES: readonly (readonly [
  rewrite: string,
  applies: (message: Message) => boolean,
  echo: (message: Message) => Message,
])[] = [
  [
    'text trimmed',
    (message) => typeof message.content === 'string' && message.content.trim() !== message.content,
    (message) => ({ ...message, content: (message.content as string).trim() }),
  ],
  [
    'text longer',
    (message) => typeof message.content === 'string',
    (message) => ({ ...message, content: `${message.content}.` }),
  ],
  ['reasoning lost', (message) => message.reasoning !== undefined, ({ reasoning: _, ...rest }) => rest],
  [
    'reasoning doubled',
    (message) => message.reasoning !== undefined,
    (message) => ({ ...message, reasoning: `${message.reasoning}${message.reasoning}` }),
  ],
  [
    'reasoning trimmed',
    (message) => message.reasoning !== undefined && (message.reasoning as string).trim() !== message.reasoning,
    (message) => ({ ...message, reasoning: (message.reasoning as string).trim() }),
  ],
  [
    'a call dropped',
    (message) => calls(message).length > 0,
    (message) => ({ ...message, tool_calls: calls(message).slice(1) }),
  ],
  [
    'a call doubled',
    (message) => calls(message).length > 0,
    (message) => ({ ...message, tool_calls: [...calls(message), calls(message)[0]] }),
  ],
  [
    'a call renamed',
    (message) => calls(message).length > 0,
    (message) => ({
      ...message,
      tool_calls: calls(message).map((call) => ({
        ...call,
        function: { ...call.function, name: `${call.function.name}x` },
      })),
    }),
  ],
  [
    'an id replaced',
    (message) => calls(message).length > 0,
    (message) => ({ ...message, tool_calls: calls(message).map((call) => ({ ...call, id: `${call.id}x` })) }),
  ],
  [
    'arguments replaced',
    (message) => calls(message).length > 0,
    (message) => withArguments(message, () => '{"other":true,"than":"before"}'),
  ],
  [
    'calls as prose',
    (message) => calls(message).length > 0,
    ({ tool_calls, ...rest }) => ({ ...rest, content: `${rest.content ?? ''}${JSON.stringify(tool_calls)}` }),
  ],
];

const unit = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
  fc.constantFrom(' ', '\n', '😀', '\u2028', '\0', '"'),
);
const text = fc.string({ unit, maxLength: 12 });
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e21, 1e-7, 1.0e4, 2 ** 53, 0.000001),
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(text, fc.constantFrom('10', '2', 'a')).filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 3 },
    ),
  ),
}));
const args = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .dictionary(
        text.filter((key) => key !== '__proto__'),
        json,
        { maxKeys: 3 },
      )
      .map((value) => JSON.stringify(value)),
  },
  fc.constantFrom(
    '',
    '{}',
    '{"cmd": "ec',
    '{bad',
    '[1, 2]',
    '{ "a" : 1.0e4 , "b":12345678901234567890}',
    '{"a":1,"a":2}',
  ),
);
const answers = fc.record({
  content: fc.option(text),
  reasoning: fc.option(text.filter((words) => words.trim() !== '')),
  toolCalls: fc.array(
    fc.record({ id: fc.string({ minLength: 1 }), name: fc.string({ minLength: 1 }), arguments: args }),
    { maxLength: 2 },
  ),
});
const ASKED = [{ role: 'user', content: 'q' }];

function echoed(
  answer: Partial<EngineAnswer>,
  echo: (message: Message) => Message,
  policy: 'required' | 'optional' = 'required',
): Relation {
  return relation({
    asked: ASKED,
    answer,
    policy,
    next: (served) => [...ASKED, echo(served), { role: 'user', content: 'n' }],
  });
}

describe('one turn', () => {
  for (const [style, echo] of STYLES)
    test(style, () => {
      fc.assert(fc.property(answers, (answer) => assert.equal(echoed(answer, echo), 'exact')));
    });

  test('content null for "" and back beside calls, by the second digest', () => {
    fc.assert(
      fc.property(answers, fc.constantFrom('', null), (answer, content) => {
        fc.pre((answer.toolCalls?.length ?? 0) > 0 && (answer.content ?? '') === '');
        const wanted = (answer.content ?? null) === content ? 'exact' : 'empty_tool_content';
        assert.equal(
          echoed(answer, (message) => ({ ...message, content })),
          wanted,
        );
      }),
    );
  });

  test('without its reasoning, where that is optional', () => {
    fc.assert(
      fc.property(answers, (answer) =>
        assert.equal(
          echoed(answer, ({ reasoning: _, ...rest }) => rest, 'optional'),
          'exact',
        ),
      ),
    );
  });
});

describe('another turn', () => {
  for (const [rewrite, applies, echo] of REWRITES)
    test(rewrite, () => {
      let rewritten = 0;
      fc.assert(
        fc.property(answers, (answer) => {
          const result = echoed(answer, (message) => {
            if (!applies(message)) return message;
            rewritten++;
            return echo(message);
          });
          assert.equal(result, rewritten > 0 ? 'none' : 'exact');
          rewritten = 0;
        }),
        { numRuns: 300 },
      );
    });
});
