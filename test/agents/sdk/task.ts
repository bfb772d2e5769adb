import type { Expectation, RootExpectation, ScriptedCall } from '../harness/expectation.ts';

/*
 * What every SDK is asked to do, JavaScript and Python, in every dialect: the scripted calls and which call each must continue. The ids of the calls are
 * those of docs/agents.md.
 */

export const INSTRUCTIONS = 'You look things up and add numbers.';
export const PROMPTS = ['What is in café and how much is it?', 'And once more?'] as const;
export const LAST_ANSWER = 'Still 12.5.';

export const SUMMARIZER = 'You summarize conversations.';
export const SUMMARIZE_NOW = 'Summarize what happened so far.';
export const SUMMARY = 'The café holds 10 things.';
export const summaryMessage = (summary: string) => `What happened so far: ${summary}`;
export const FORK_PROMPT = 'What if it had been closed?';
export const FORK_ANSWER = 'Then nothing.';

const call = (id: string, name: string, args: string) => ({ id, name, arguments: args });

export interface TaskOptions {
  /** What the SDK tells the model when a tool throws; default: the message of the error. */
  readonly failure?: string;
  /** The client sends no reasoning back, and `lineage.reasoning` is `required`: what it says of that stands in docs/agents.md. */
  readonly dropsReasoning?: string;
}

/**
 * Eight model calls over two prompts of one conversation; each but the first continues the one before it. They hold what clients are known to change on the way
 * back: blanks around a text, escapes and number spellings in arguments, keys in another order than the schema's, content null and "" beside calls,
 * parallel calls, a tool that fails alone and beside another, a call without arguments, reasoning with text, with calls alone, and none.
 */
export function taskCalls({ failure = 'it broke: ', dropsReasoning }: TaskOptions = {}): ScriptedCall[] {
  /** What follows a call that reasoned. */
  const afterReasoning = (id: string): Expectation =>
    dropsReasoning === undefined
      ? { parent: id }
      : {
          root: {
            cause: 'history_differs',
            nearest: id,
            detail: { part: 'reasoning', role: 'assistant' },
            rewrite: dropsReasoning,
          },
        };
  return [
    {
      id: 'c1',
      answer: {
        reasoning: ' First the file,\nthen the sum. ',
        content: '  Let me look. ',
        tool_calls: [call('call_1', 'lookup', '{ "path" : "caf\\u00e9/\\"a\\".txt",\n "limit": 1.0e1 }')],
      },
      expect: { root: { cause: 'first_call' } },
    },
    {
      id: 'c2',
      answer: {
        reasoning: 'Two things at once.',
        tool_calls: [
          call('call_2', 'add', '{"b": 2.50, "a": 10}'),
          call('call_3', 'lookup', '{"limit":0.000001,"path":"日本語 🎉"}'),
        ],
      },
      expect: afterReasoning('c1'),
      sees: ['found café/"a".txt up to 10'],
    },
    {
      id: 'c3',
      answer: { content: '', tool_calls: [call('call_4', 'fragile', '{"reason":"alone"}')] },
      expect: afterReasoning('c2'),
      sees: ['the sum is 12.5', 'found 日本語 🎉 up to '],
    },
    {
      id: 'c4',
      answer: {
        reasoning: 'It failed.',
        content: 'Zwölf — 日本語 🎉\n\nAgain:\n',
        tool_calls: [
          call('call_5', 'fragile', '{"reason": "beside another"}'),
          call('call_6', 'lookup', '{"path":"b","limit":3}'),
        ],
      },
      expect: { parent: 'c3' },
      sees: [failure],
    },
    {
      id: 'c5',
      answer: { tool_calls: [call('call_7', 'ping', '{}')] },
      expect: afterReasoning('c4'),
      sees: [failure, 'found b up to 3'],
    },
    {
      id: 'c6',
      answer: { reasoning: 'Now I know.', content: 'It is 12.5.' },
      expect: { parent: 'c5' },
      sees: ['pong'],
    },
    {
      id: 'c7',
      answer: { content: 'Once more.', tool_calls: [call('call_8', 'add', '{"a":12.5,"b":0}')] },
      expect: afterReasoning('c6'),
      sees: [PROMPTS[1]],
    },
    { id: 'c8', answer: { content: LAST_ANSWER }, expect: { parent: 'c7' } },
  ];
}

/**
 * A prompt, a summary in the place of the history, another prompt, and then a third one to the history as it was before the summary, which makes a fork.
 * `summary` tells how the call that writes the summary leaves the history, `after` how the first call after it does.
 */
export function summaryCalls(expected: { summary: RootExpectation; after: RootExpectation }): ScriptedCall[] {
  return [
    {
      id: 's1',
      answer: {
        reasoning: 'Where to begin?',
        content: 'I begin.',
        tool_calls: [call('call_1', 'lookup', '{"path":"one","limit":10}')],
      },
      expect: { root: { cause: 'first_call' } },
    },
    { id: 's2', answer: { content: 'It is there.' }, expect: { parent: 's1' }, sees: ['found one up to 10'] },
    {
      id: 'summary',
      when: { has_tools: false },
      answer: { content: SUMMARY },
      expect: { root: expected.summary },
      sees: ['found one up to 10', 'It is there.'],
    },
    {
      id: 's3',
      answer: { tool_calls: [call('call_2', 'add', '{"a":1,"b":2}')] },
      expect: { root: expected.after },
      sees: [SUMMARY, PROMPTS[1]],
      lacks: ['found one up to 10', 'It is there.'],
    },
    { id: 's4', answer: { content: LAST_ANSWER }, expect: { parent: 's3' }, sees: ['the sum is 3'] },
    {
      id: 's5',
      answer: { content: FORK_ANSWER },
      expect: { parent: 's2' },
      sees: ['It is there.', FORK_PROMPT],
      lacks: [SUMMARY, LAST_ANSWER],
    },
  ];
}

export const BROKEN_TEXT = 'Now.';

/** Arguments that are no JSON: what follows them depends on the client. */
export function brokenArgumentsCalls(expect: Expectation): ScriptedCall[] {
  return [
    {
      id: 'b1',
      answer: { content: BROKEN_TEXT, tool_calls: [call('call_1', 'lookup', '{"path": "a", "limit": 1')] },
      expect: { root: { cause: 'first_call' } },
    },
    { id: 'b2', answer: { content: LAST_ANSWER }, expect },
  ];
}

/** A second prompt is refused for its length, a summary is written, and the prompt is asked again. */
export function refusalCalls(expected: { summary: RootExpectation; after: RootExpectation }): ScriptedCall[] {
  return [
    { id: 'r1', answer: { content: 'It is there.' }, expect: { root: { cause: 'first_call' } } },
    {
      id: 'summary',
      when: { has_tools: false },
      answer: { content: SUMMARY },
      expect: { root: expected.summary },
      sees: ['It is there.'],
    },
    {
      id: 'r2',
      answer: { content: LAST_ANSWER },
      expect: { root: expected.after },
      sees: [SUMMARY, PROMPTS[1]],
      lacks: ['It is there.'],
    },
  ];
}

/** Three calls in a row; the connection of the second one breaks. */
export function lostConnectionCalls(): ScriptedCall[] {
  return [
    {
      id: 'l1',
      answer: { reasoning: 'First.', content: 'One.', tool_calls: [call('call_1', 'ping', '{}')] },
      expect: { root: { cause: 'first_call' } },
    },
    {
      id: 'l2',
      answer: { reasoning: 'Second.', tool_calls: [call('call_2', 'add', '{"a":1,"b":2}')] },
      expect: { parent: 'l1' },
      sees: ['pong'],
    },
    { id: 'l3', answer: { content: LAST_ANSWER }, expect: { parent: 'l2' }, sees: ['the sum is 3'] },
  ];
}

/**
 * Four calls in a row, while the SDK edits the history before each of them so that only the newest tool output stays. `third` and `fourth` tell how those calls
 * leave the history of the one before.
 */
export function editedCalls(expected: { third: RootExpectation; fourth: RootExpectation }): ScriptedCall[] {
  const lookup = (id: string, path: string) => call(id, 'lookup', `{"path":"${path}","limit":10}`);
  return [
    {
      id: 'e1',
      answer: { reasoning: 'One by one.', content: 'One.', tool_calls: [lookup('call_1', 'one')] },
      expect: { root: { cause: 'first_call' } },
    },
    {
      id: 'e2',
      answer: { tool_calls: [lookup('call_2', 'two')] },
      expect: { parent: 'e1' },
      sees: ['found one up to 10'],
    },
    {
      id: 'e3',
      answer: { content: 'Three.', tool_calls: [lookup('call_3', 'three')] },
      expect: { root: { ...expected.third, nearest: 'e2' } },
      sees: ['found two up to 10'],
      lacks: ['found one up to 10'],
    },
    {
      id: 'e4',
      answer: { content: LAST_ANSWER },
      expect: { root: expected.fourth },
      sees: ['found three up to 10'],
      lacks: ['found two up to 10'],
    },
  ];
}

/** The older outputs keep their place and lose their text. */
export const OUTPUTS_CLEARED = {
  third: { cause: 'history_differs', detail: { index: 3, role: 'tool', part: 'text' } },
  fourth: { cause: 'history_differs', nearest: 'e3', detail: { index: 5, role: 'tool', part: 'text' } },
};

/** A tool answers with a picture; `after` is what becomes of the next call. */
export function pictureCalls(after: Expectation): ScriptedCall[] {
  return [
    {
      id: 'p1',
      answer: { reasoning: 'A photo would help.', tool_calls: [call('call_1', 'photo', '{}')] },
      expect: { root: { cause: 'first_call' } },
    },
    { id: 'p2', answer: { content: 'It is a dot.' }, expect: after },
    { id: 'p3', answer: { content: LAST_ANSWER }, expect: { parent: 'p2' } },
  ];
}

/** The first call must be one of a tool; the SDK takes that back for the next one. */
export function requiredToolCalls(rewrite: string): ScriptedCall[] {
  const taken = { cause: 'render_differs', nearest: 'q1', detail: { keys: ['tool_choice'] }, rewrite };
  return [
    {
      id: 'q1',
      answer: { content: 'Ping.', tool_calls: [call('call_1', 'ping', '{}')] },
      expect: { root: { cause: 'first_call' } },
    },
    {
      id: 'q2',
      answer: { tool_calls: [call('call_2', 'ping', '{}')] },
      expect: { root: taken },
      sees: ['pong'],
    },
    { id: 'q3', answer: { content: LAST_ANSWER }, expect: { parent: 'q2' } },
  ];
}

/** Two samples of one prompt, each of which is gone on with. */
export function sampleCalls(): ScriptedCall[] {
  const look = (id: string, path: string) => call(id, 'lookup', `{"path":"${path}","limit":10}`);
  return [
    {
      id: 'x1',
      answer: { reasoning: 'Left?', tool_calls: [look('call_1', 'left')] },
      expect: { root: { cause: 'first_call' } },
    },
    {
      id: 'x2',
      answer: { reasoning: 'Right?', tool_calls: [look('call_2', 'right')] },
      expect: { root: { cause: 'first_call' } },
    },
    {
      id: 'x3',
      when: { contains: 'found left' },
      answer: { content: LAST_ANSWER },
      expect: { parent: 'x1' },
    },
    {
      id: 'x4',
      when: { contains: 'found right' },
      answer: { content: LAST_ANSWER },
      expect: { parent: 'x2' },
    },
  ];
}
