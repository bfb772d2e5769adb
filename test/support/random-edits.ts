import type { Dialect } from '../../src/protocol/conversation.ts';
import {
  below,
  type Entry,
  type History,
  type Output,
  type Part,
  pick,
  type Random,
  type Remembered,
  remembered,
} from './client-histories.ts';

/** A history in which one thing was changed. Null, where the history has nothing of that kind. */
export type Edit = (history: History, dialect: Dialect, random: Random) => Edited | null;

export interface Edited {
  readonly history: History;
  /** Members of `why_root`; a list holds what may stand there. */
  readonly why: Readonly<Record<string, unknown>>;
}

/** Blank, combining, outside of Latin-1, a control character: each is one character more. */
const CHARACTERS = ['x', ' ', '\n', '\u0301', 'é', '日', '\u0007', '😀'];

/** Every edit changes something at or before the last turn of the model: what stands after it is what is appended. */
export const EDITS: Readonly<Record<string, Edit>> = {
  'a character of a user text': (history, _, random) =>
    inParts(history, random, 'user', (parts) => inText(parts, random), { role: 'user', part: 'text' }),
  'another image': (history, _, random) => inParts(history, random, 'user', inImage, { role: 'user', part: 'media' }),
  'a character of a tool output': (history, _, random) =>
    inOutputs(history, random, (outputs, at) => {
      const changed = inText(outputs[at]?.parts ?? [], random);
      return changed === null ? null : outputs.with(at, { ...(outputs[at] as Output), parts: changed });
    }),
  'a character of the instructions': (history, _, random) =>
    history.system === null
      ? null
      : {
          history: { ...history, system: insert(history.system, random) },
          why: { cause: 'history_differs', index: 0, role: 'system', part: 'text' },
        },
  'a character of an answer': inTurn('text', ({ text, ...turn }, random) =>
    text === null || text === '' ? null : { ...turn, text: insert(text, random) },
  ),
  'a character of a reasoning': inTurn('reasoning', ({ reasoning, ...turn }, random) =>
    reasoning === null ? null : { ...turn, reasoning: insert(reasoning, random) },
  ),
  'a reasoning dropped': inTurn('reasoning', (turn) => (turn.reasoning === null ? null : { ...turn, reasoning: null })),
  'an argument more': inCall('arguments', (call) => {
    const members = /^\s*\{([\s\S]*)\}\s*$/.exec(call.arguments)?.[1];
    if (members === undefined || !isJson(call.arguments)) return null;
    return { ...call, arguments: `{"one more":1${members.trim() === '' ? '' : ','}${members}}` };
  }),
  'another tool name': inCall('name', (call) => ({ ...call, name: `${call.name}2` })),
  'another call id, in call and output': (history, dialect, random) =>
    renamed(inCall('call_id', (call) => ({ ...call, id: `${call.id}x` }))(history, dialect, random)),
  'a call less': inTurn(['calls', 'partial_echo'], ({ calls, ...turn }) =>
    calls.length === 0 || (calls.length === 1 && !turn.text) ? null : { ...turn, calls: calls.slice(0, -1) },
  ),
  'a call more, with its output': (history, dialect, random) =>
    answered(
      inTurn('calls', ({ calls, ...turn }) => ({
        ...turn,
        calls: [...calls, { id: 'call_more', name: 'f', arguments: '{}' }],
      }))(history, dialect, random),
    ),
  'calls in another order': inTurn('order', ({ calls, ...turn }) =>
    calls.length < 2 ? null : { ...turn, calls: calls.toReversed() },
  ),
  'tool outputs in another order': (history, _, random) =>
    edited(history, random, (entry) =>
      entry.by === 'tools' && entry.outputs.length > 1
        ? {
            entries: [{ ...entry, outputs: entry.outputs.toReversed() }],
            why: { cause: 'history_differs', role: 'tool' },
          }
        : null,
    ),
  'a tool output less': (history, _, random) =>
    edited(history, random, (entry) =>
      entry.by === 'tools' && entry.outputs.length > 1
        ? { entries: [{ ...entry, outputs: entry.outputs.slice(1) }], why: { cause: 'history_differs' } }
        : null,
    ),
  'a user message twice': (history, _, random) =>
    edited(history, random, (entry) =>
      entry.by === 'user' ? { entries: [entry, entry], why: { cause: 'history_differs', part: 'inserted' } } : null,
    ),
  'a message inserted': (history, _, random) =>
    edited(history, random, (entry) => ({
      entries: [{ by: 'user', parts: [{ text: 'By the way.' }] }, entry],
      why: { cause: 'history_differs' },
    })),
  'an entry dropped': (history, _, random) =>
    edited(history, random, (_entry, isLastTurn) =>
      isLastTurn ? null : { entries: [], why: { cause: 'history_differs' } },
    ),
  'a character of a tool description': (history, _, random) => {
    const at = below(random, history.tools.length);
    const tool = history.tools[at];
    if (tool === undefined) return null;
    const description = insert(tool.description, random);
    return ofTools(history, history.tools.with(at, { ...tool, description }));
  },
  'a bound in a tool schema': (history) => {
    const [tool, ...others] = history.tools;
    if (tool === undefined) return null;
    const properties = { a: { type: 'number', minimum: 0 } };
    return ofTools(history, [{ ...tool, parameters: { ...tool.parameters, properties } }, ...others]);
  },
  'a tool less': (history) => (history.tools.length < 2 ? null : ofTools(history, history.tools.slice(1))),
  'tools in another order': (history) =>
    history.tools.length < 2 ? null : ofTools(history, history.tools.toReversed()),
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function insert(text: string, random: Random): string {
  const at = below(random, text.length + 1);
  return text.slice(0, at) + pick(random, CHARACTERS) + text.slice(at);
}

function inText(parts: readonly Part[], random: Random): Part[] | null {
  const at = parts.findIndex((part) => 'text' in part);
  const part = parts[at];
  return part === undefined || !('text' in part) ? null : parts.with(at, { text: insert(part.text, random) });
}

function inImage(parts: readonly Part[]): Part[] | null {
  const at = parts.findIndex((part) => 'image' in part);
  const part = parts[at];
  return part === undefined || !('image' in part) ? null : parts.with(at, { image: part.image.replace(',', ',A') });
}

function ofTools(history: History, tools: History['tools']): Edited {
  return { history: { ...history, tools }, why: { cause: 'render_differs', keys: ['tools'] } };
}

type Change = (entry: Entry, isLastTurn: boolean) => { entries: readonly Entry[]; why: Edited['why'] } | null;

/** Changes one entry, at random one of those that can be changed so. */
function edited(history: History, random: Random, change: Change): Edited | null {
  const { entries } = history;
  const last = entries.findLastIndex((entry) => entry.by === 'model');
  const changes = entries.slice(0, last + 1).flatMap((entry, at) => {
    const made = change(entry, at === last);
    return made === null ? [] : [{ at, ...made }];
  });
  if (changes.length === 0) return null;
  const { at, why, ...made } = pick(random, changes);
  return { history: { ...history, entries: entries.toSpliced(at, 1, ...made.entries) }, why };
}

/** Place of an entry's first message among those that the engine gets. */
function indexOf(history: History, entry: Entry): number {
  const before = history.entries.slice(0, history.entries.indexOf(entry));
  const counts = before.map((one) => (one.by === 'tools' ? one.outputs.length : 1));
  return counts.reduce((sum, count) => sum + count, history.system === null ? 0 : 1);
}

function inParts(
  history: History,
  random: Random,
  by: 'user',
  change: (parts: readonly Part[]) => Part[] | null,
  why: Edited['why'],
): Edited | null {
  return edited(history, random, (entry) => {
    const parts = entry.by === by ? change(entry.parts) : null;
    return parts === null
      ? null
      : { entries: [{ by, parts }], why: { cause: 'history_differs', index: indexOf(history, entry), ...why } };
  });
}

function inOutputs(
  history: History,
  random: Random,
  change: (outputs: readonly Output[], at: number) => readonly Output[] | null,
): Edited | null {
  return edited(history, random, (entry) => {
    if (entry.by !== 'tools') return null;
    const at = below(random, entry.outputs.length);
    const outputs = change(entry.outputs, at);
    const why = { cause: 'history_differs', index: indexOf(history, entry) + at, role: 'tool', part: 'text' };
    return outputs === null ? null : { entries: [{ ...entry, outputs }], why };
  });
}

/** Changes a turn of the model; the client writes it as it remembers it. */
function inTurn(
  part: string | readonly string[],
  change: (turn: Remembered, random: Random) => Remembered | null,
): Edit {
  return (history, dialect, random) =>
    edited(history, random, (entry) => {
      const said = entry.by === 'model' ? change(remembered(dialect, entry.reply), random) : null;
      const why = { cause: 'history_differs', index: indexOf(history, entry), role: 'assistant', part };
      return said === null ? null : { entries: [{ by: 'memory', said }], why };
    });
}

type Call = Remembered['calls'][number];

function inCall(part: string, change: (call: Call) => Call | null): Edit {
  return inTurn(part, (turn, random) => {
    const at = below(random, turn.calls.length);
    const call = turn.calls[at];
    const changed = call === undefined ? null : change(call);
    return changed === null ? null : { ...turn, calls: turn.calls.with(at, changed) };
  });
}

/** The turn that was edited, and the outputs after it. */
function editedTurn({ history }: Edited): { at: number; calls: readonly Call[]; outputs: readonly Output[] } {
  const at = history.entries.findIndex((entry) => entry.by === 'memory');
  const turn = history.entries[at];
  const next = history.entries[at + 1];
  return {
    at,
    calls: turn?.by === 'memory' ? turn.said.calls : [],
    outputs: next?.by === 'tools' ? next.outputs : [],
  };
}

/** The output of the renamed call takes its new id. Otherwise the call would have none, which changes more than an id in Responses (protocol section 3). */
function renamed(made: Edited | null): Edited | null {
  if (made === null) return null;
  const { at, calls, outputs } = editedTurn(made);
  const known = new Set(calls.map(({ id }) => id));
  const id = calls.find((call) => !outputs.some((output) => output.id === call.id))?.id ?? '';
  const entry: Entry = {
    by: 'tools',
    outputs: outputs.map((output) => (known.has(output.id) ? output : { ...output, id })),
  };
  return { ...made, history: { ...made.history, entries: made.history.entries.with(at + 1, entry) } };
}

/** The added call gets an output. */
function answered(made: Edited | null): Edited | null {
  if (made === null) return null;
  const { at, outputs } = editedTurn(made);
  const entry: Entry = {
    by: 'tools',
    outputs: [...outputs, { id: 'call_more', name: 'f', parts: [{ text: 'more' }] }],
  };
  const entries = made.history.entries.toSpliced(at + 1, outputs.length === 0 ? 0 : 1, entry);
  return { ...made, history: { ...made.history, entries } };
}
