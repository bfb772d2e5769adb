import type { Expectation, ScriptedCall } from '../harness/expectation.ts';
import { FIRST_ANSWER, type ShellTool } from './task.ts';

/** The turns that a careless model writes, by what is odd about them; each is echoed by the call after it. */
const ODD_TURNS = ['broken', 'empty', 'duplicates', 'stripped', 'list', 'blank', 'no_ids', 'trailing'] as const;
export type OddTurn = (typeof ODD_TURNS)[number];

/** What the client makes of an odd turn when it echoes it: a rewrite, with the part of it that `why_root` must name. */
export interface Rewrite {
  readonly says: string;
  readonly part: string;
  readonly arguments?: readonly string[];
}

/**
 * A chain of odd turns: cut-off arguments, empty ones, a member twice and numbers that no double holds, a command that some clients tidy up, a list for
 * arguments, text of white space only, calls without ids, trailing white space in a file. `rewrites` says which of them the client does not echo as they were.
 */
export function oddTurnCalls(
  tool: ShellTool,
  options: {
    readonly first: Expectation;
    readonly work: string;
    readonly write: { readonly name: string; readonly file: string };
    readonly rewrites: Partial<Record<OddTurn, Rewrite>>;
    /** Members, as JSON text, that the shell tool cannot do without. */
    readonly needs?: string;
  },
): ScriptedCall[] {
  const { work, write, needs = '' } = options;
  const call = (id: string, text: string) => ({ id, name: tool.name, arguments: text });
  const command = (text: string) => `${needs}"${tool.command}": ${JSON.stringify(text)}`;
  const answers: Record<OddTurn, ScriptedCall['answer']> = {
    broken: { tool_calls: [call('call_1', `{${needs}"${tool.command}": "ec`)] },
    empty: { tool_calls: [call('call_2', '')] },
    duplicates: {
      tool_calls: [
        call('call_3', `{${command('echo a')}, ${command('echo b')}, "z": 12345678901234567890, "f": 1.50, "10": 1}`),
      ],
    },
    stripped: { tool_calls: [call('call_4', `{${command(`cd ${work} && pwd  `)}, "timeout": "5000"}`)] },
    list: { tool_calls: [call('call_5', '[1]')] },
    blank: { content: ' \n ', reasoning: '  ', tool_calls: [call('call_6', `{${command('echo six')}}`)] },
    no_ids: {
      tool_calls: [
        { name: tool.name, arguments: `{${command('echo seven')}}` },
        { name: tool.name, arguments: `{${command('echo eight')}}` },
      ],
    },
    trailing: {
      tool_calls: [
        {
          id: 'call_9',
          name: write.name,
          arguments: JSON.stringify({ [write.file]: `${work}/a.py`, content: 'x = 1  \ny = 2\t\n' }),
        },
      ],
    },
  };
  const after = (turn: OddTurn): Expectation => {
    const rewrite = options.rewrites[turn];
    if (rewrite === undefined) return { parent: turn };
    const detail = { part: rewrite.part, ...(rewrite.arguments === undefined ? {} : { arguments: rewrite.arguments }) };
    return { root: { cause: 'history_differs', nearest: turn, detail, rewrite: rewrite.says } };
  };
  const chain = ODD_TURNS.map((turn, at): ScriptedCall => {
    const before = ODD_TURNS[at - 1];
    return { id: turn, answer: answers[turn], expect: before === undefined ? options.first : after(before) };
  });
  return [...chain, { id: 'end', answer: { content: FIRST_ANSWER }, expect: after('trailing') }];
}
