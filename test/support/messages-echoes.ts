import type { RenderedReply } from '../../src/protocol/conversation.ts';
import type { JsonNode } from '../../src/protocol/json/json-node.ts';
import { json } from './messages-dialect.ts';
import { pythonJson } from './python-json.ts';

/**
 * How clients of the Messages dialect send a turn back: for a reply, the JSON text of the assistant message in the next request. Each does to
 * the turn what the agent of that name was seen to do, and all of it is the same turn.
 */
export type EchoStyle = (reply: Pick<RenderedReply, 'json'>) => string;

type Block = Record<string, unknown>;

const blocks = (reply: Pick<RenderedReply, 'json'>): Block[] =>
  (JSON.parse(reply.json.toString('utf8')) as { content: Block[] }).content;
const turn = (content: unknown, more: object = {}) => JSON.stringify({ role: 'assistant', content, ...more });

/** Keys in another order, as a schema-driven client writes them. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const out = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of Object.entries(value).toSorted(([a], [b]) => (a < b ? 1 : -1)))
    Object.defineProperty(out, key, { value: sorted(member), enumerable: true });
  return out;
}

const withInputs = (list: Block[], change: (input: unknown) => unknown) =>
  list.map((block) => (block.type === 'tool_use' ? { ...block, input: change(block.input) } : block));

export const ECHO_STYLES: Readonly<Record<string, EchoStyle>> = {
  'the served bytes': (reply) =>
    `{"role":"assistant","content":${json(reply.json.toString('utf8')).get('content')?.rawText()}}`,
  'the whole Message object, parsed and written again': (reply) =>
    JSON.stringify(JSON.parse(reply.json.toString('utf8'))),
  'Claude Code: cache_control on the last block, inputs parsed and written again': (reply) => {
    const list = blocks(reply);
    const last = list.at(-1);
    if (last !== undefined && last.type !== 'thinking') last.cache_control = { type: 'ephemeral' };
    return turn(list);
  },
  'AI SDK: inputs in the order of the schema, provider options': (reply) => turn(withInputs(blocks(reply), sorted)),
  'langchain-anthropic: one text is a string': (reply) => {
    const list = blocks(reply);
    return turn(list.length === 1 && list[0]?.type === 'text' ? list[0].text : list);
  },
  'langchain-anthropic: inputs through Python': (reply) => throughPython(json(reply.json.toString('utf8')), true),
  'pydantic-ai: as served, through Python': (reply) => throughPython(json(reply.json.toString('utf8')), false),
  'ids, status, index, caller and null members added': (reply) =>
    turn(
      blocks(reply).map((block, index) => ({
        citations: null,
        caller: null,
        cache_control: null,
        status: 'done',
        ...block,
        index,
      })),
      { id: 'msg_1', status: 'completed', name: null },
    ),
  'only the signature of the thinking': (reply) =>
    turn(blocks(reply).map((block) => (block.type === 'thinking' ? { ...block, thinking: '' } : block))),
  'only the text of the thinking': (reply) =>
    turn(blocks(reply).map((block) => (block.type === 'thinking' ? { ...block, signature: '' } : block))),
  'the text in two blocks': (reply) =>
    turn(blocks(reply).flatMap((block) => (block.type === 'text' ? halves(block.text as string) : [block]))),
};

function halves(text: string): Block[] {
  const middle = text.length >> 1;
  return [text.slice(0, middle), text.slice(middle)].map((half) => ({ type: 'text', text: half }));
}

function throughPython(message: JsonNode, asciiOnly: boolean): string {
  return `{"role": "assistant", "content": ${pythonJson(message.get('content') as JsonNode, asciiOnly)}}`;
}
