import type { RootExpectation, ScriptedCall } from '../harness/expectation.ts';

/** The shell tool of an agent. */
export interface ShellTool {
  readonly name: string;
  /** The argument that holds the command. */
  readonly command: string;
  /** Another argument that it takes, as JSON text. */
  readonly extra: string;
}

/** A scripted call of the shell tool, its arguments written by a careless model: white space, escapes, keys in an order of its own. */
export function shell(tool: ShellTool, id: string, command: string) {
  return {
    id,
    name: tool.name,
    arguments: ` { ${tool.extra}, ${JSON.stringify(tool.command)} : ${JSON.stringify(command)} } `,
  };
}

/** Token counts that a scripted answer reports: agents compact by them. */
export function usage(total: number) {
  return { usage: { prompt_tokens: total - 10, completion_tokens: 10, total_tokens: total } };
}

/**
 * The append-only task: seven calls over two runs of the program (the second resumes the conversation), with single and parallel tool calls, text beside
 * calls and an empty text, reasoning, a tool that fails and one that is not there. `unknownTool`: what becomes of the call after the tool that is not there.
 */
export function taskCalls(
  tool: ShellTool,
  first: RootExpectation = { cause: 'first_call' },
  unknownTool: ScriptedCall['expect'] = { parent: 'c5' },
): ScriptedCall[] {
  return [
    {
      id: 'c1',
      answer: { reasoning: 'Look first.\n', tool_calls: [shell(tool, 'call_1', 'echo one-$((1+0))')] },
      expect: { root: first },
      sees: [TASK],
    },
    {
      id: 'c2',
      answer: {
        content: '  Now two at once: é. ',
        tool_calls: [
          shell(tool, 'call_2', 'sleep 0.2; echo two-$((1+1))'),
          shell(tool, 'call_3', 'echo three-$((1+2))'),
        ],
      },
      expect: { parent: 'c1' },
      sees: ['one-1', 'Look first.'],
    },
    {
      id: 'c3',
      answer: { content: '', tool_calls: [shell(tool, 'call_4', 'echo broken-$((1+3)) >&2; exit 3')] },
      expect: { parent: 'c2' },
      sees: ['two-2', 'three-3', '  Now two at once: é. '],
    },
    {
      id: 'c4',
      answer: {
        reasoning: 'That failed.',
        content: 'It failed, so on.',
        tool_calls: [shell(tool, 'call_5', 'printf "\\303\\251-%s" five')],
      },
      expect: { parent: 'c3' },
      sees: ['broken-4'],
    },
    {
      id: 'c5',
      answer: { tool_calls: [{ id: 'call_6', name: 'no_such_tool', arguments: '{"x":1}' }] },
      expect: { parent: 'c4' },
      sees: ['é-five', 'That failed.', 'It failed, so on.'],
    },
    { id: 'c6', answer: { reasoning: 'Enough.', content: FIRST_ANSWER }, expect: unknownTool, sees: ['no_such_tool'] },
    { id: 'c7', answer: { content: LAST_ANSWER }, expect: { parent: 'c6' }, sees: [FIRST_ANSWER, FOLLOW_UP, 'one-1'] },
  ];
}

export const TASK = 'Do the task.';
export const FOLLOW_UP = 'And once more.';
export const FIRST_ANSWER = 'All done.';
export const LAST_ANSWER = 'Done again.';
