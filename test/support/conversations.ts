import fc from 'fast-check';
import type { EngineToolCall } from '../../src/protocol/conversation.ts';
import { anyCalls, anyText, objectText } from './answers.ts';

/** A conversation in no dialect: what an agent and a model said, before any client wrote it down. */
export interface Conversation {
  readonly system: string | null;
  readonly turns: readonly Turn[];
}

export type Turn =
  | { readonly by: 'user'; readonly parts: readonly Part[] }
  | { readonly by: 'model'; readonly said: Said; readonly outputs: readonly (readonly Part[])[] };

export type Part = { readonly text: string } | { readonly image: string };

/** An assistant turn. At least one of its members says something. */
export interface Said {
  readonly reasoning: string | null;
  readonly text: string | null;
  readonly calls: readonly EngineToolCall[];
}

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  { weight: 4, arbitrary: anyText.map((text) => ({ text })) },
  {
    weight: 1,
    arbitrary: fc
      .base64String({ minLength: 4, maxLength: 40 })
      .map((data) => ({ image: `data:image/png;base64,${data}` })),
  },
);
const anyParts = fc.array(anyPart, { minLength: 1, maxLength: 3 });
const spoken = anyText.filter((text) => text.trim() !== '');

export const anySaid: fc.Arbitrary<Said> = fc
  .record({ reasoning: fc.option(spoken), text: fc.option(spoken), calls: anyCalls(objectText) })
  .filter(({ reasoning, text, calls }) => reasoning !== null || text !== null || calls.length > 0);

const anyTurns: fc.Arbitrary<Turn[]> = fc
  .array(
    fc.record({
      said: anySaid,
      outputs: fc.array(anyParts, { minLength: 3, maxLength: 3 }),
      next: fc.option(anyParts),
    }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((rounds) =>
    rounds.flatMap(({ said, outputs, next }): Turn[] => [
      { by: 'model', said, outputs: outputs.slice(0, said.calls.length) },
      // What calls no tool is followed by the user; what does may go on at once.
      ...(next !== null || said.calls.length === 0
        ? [{ by: 'user' as const, parts: next ?? [{ text: 'go on' }] }]
        : []),
    ]),
  );

/** Ends in a user turn or in tool outputs; every call has its output. */
export const anyConversation: fc.Arbitrary<Conversation> = fc
  .record({ system: fc.option(spoken), first: anyParts, turns: anyTurns })
  .map(({ system, first, turns }) => ({ system, turns: [{ by: 'user', parts: first }, ...turns] }));

type Writer = (conversation: Conversation) => string;

const str = JSON.stringify;
const list = (elements: readonly string[]) => `[${elements.join(',')}]`;

/** Content: the string where it is one text, else the list of parts. */
function content(parts: readonly Part[], part: (part: Part) => string): string {
  const [only] = parts;
  return parts.length === 1 && only !== undefined && 'text' in only ? str(only.text) : list(parts.map(part));
}

const chatPart = (part: Part) =>
  'text' in part ? str({ type: 'text', text: part.text }) : str({ type: 'image_url', image_url: { url: part.image } });
const responsesPart = (part: Part) =>
  'text' in part
    ? str({ type: 'input_text', text: part.text })
    : str({ type: 'input_image', image_url: part.image, detail: 'auto' });

function messagesPart(part: Part): string {
  if ('text' in part) return str({ type: 'text', text: part.text });
  const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/.exec(part.image) ?? [];
  return str({ type: 'image', source: { type: 'base64', media_type: mediaType, data } });
}

const chatBody: Writer = ({ system, turns }) =>
  body('messages', [
    ...(system === null ? [] : [str({ role: 'system', content: system })]),
    ...turns.flatMap((turn) => {
      if (turn.by === 'user') return [`{"role":"user","content":${content(turn.parts, chatPart)}}`];
      const { reasoning, text, calls } = turn.said;
      const tool_calls = calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
      }));
      const said = {
        role: 'assistant',
        content: text,
        ...(reasoning === null ? {} : { reasoning }),
        ...(calls.length === 0 ? {} : { tool_calls }),
      };
      return [
        str(said),
        ...turn.outputs.map(
          (parts, at) => `{"role":"tool","tool_call_id":${str(calls[at]?.id)},"content":${content(parts, chatPart)}}`,
        ),
      ];
    }),
  ]);

const responsesBody: Writer = ({ system, turns }) =>
  body(
    'input',
    turns.flatMap((turn) => {
      if (turn.by === 'user') return [`{"role":"user","content":${content(turn.parts, responsesPart)}}`];
      const { reasoning, text, calls } = turn.said;
      return [
        ...(reasoning === null
          ? []
          : [str({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: reasoning }] })]),
        ...(text === null
          ? []
          : [str({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })]),
        ...calls.map((call) =>
          str({ type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments }),
        ),
        ...turn.outputs.map(
          (parts, at) =>
            `{"type":"function_call_output","call_id":${str(calls[at]?.id)},"output":${content(parts, responsesPart)}}`,
        ),
      ];
    }),
    system === null ? '' : `"instructions":${str(system)},`,
  );

const messagesBody: Writer = ({ system, turns }) =>
  body(
    'messages',
    turns.flatMap((turn) => {
      if (turn.by === 'user') return [`{"role":"user","content":${content(turn.parts, messagesPart)}}`];
      const { reasoning, text, calls } = turn.said;
      const blocks = [
        ...(reasoning === null ? [] : [str({ type: 'thinking', thinking: reasoning, signature: '' })]),
        ...(text === null ? [] : [str({ type: 'text', text })]),
        ...calls.map(
          (call) => `{"type":"tool_use","id":${str(call.id)},"name":${str(call.name)},"input":${call.arguments}}`,
        ),
      ];
      const results = turn.outputs.map(
        (parts, at) =>
          `{"type":"tool_result","tool_use_id":${str(calls[at]?.id)},"content":${content(parts, messagesPart)}}`,
      );
      return [
        `{"role":"assistant","content":${list(blocks)}}`,
        ...(results.length === 0 ? [] : [`{"role":"user","content":${list(results)}}`]),
      ];
    }),
    system === null ? '' : `"system":${str(system)},`,
  );

function body(name: string, elements: readonly string[], members = ''): string {
  return `{"model":"m",${members}${str(name)}:${list(elements)}}`;
}

/** The request body of a conversation in each dialect, as JSON text. */
export const WRITERS = { chat: chatBody, responses: responsesBody, messages: messagesBody } as const;
