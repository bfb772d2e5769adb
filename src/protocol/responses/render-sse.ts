import type { ConvertedRequest, EngineAnswer, RenderedReply, ReplyOptions } from '../conversation.ts';
import { type JsonFragment, joinFragments, jsonString } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import { FRAME_END, frameStart, pieces, singleLine } from '../sse.ts';
import { responseHead } from './chat-to-responses.ts';
import { finishedLine, IN_PROGRESS, type ResponseHead, responseLine } from './response-object.ts';

/**
 * The event stream of a finished reply: the order and the members that clients.md 1.1 and 1.2 list, numbered from 0 without gaps. Every
 * item and part is opened and closed, every id is the final one, and the last event carries the very object of the JSON reply.
 */
export function renderResponsesSse(
  request: ConvertedRequest,
  answer: EngineAnswer,
  reply: RenderedReply,
  options: ReplyOptions,
): Buffer {
  const stream = new EventWriter();
  const head = responseHead(request, answer, options);
  stream.open(head);
  reply.outputItems.forEach((item, index) => {
    writeItem(stream, item, index);
  });
  stream.response(`response.${reply.status ?? 'completed'}`, finishedLine(head, reply.json));
  return stream.bytes();
}

class EventWriter {
  private readonly frames: JsonFragment[] = [];
  private events = 0;

  /** One event; `members` is the inside of its object. */
  event(type: string, members: string): void {
    this.frames.push(`${this.head(type)}${singleLine(members)}}${FRAME_END}`);
  }

  /** An event with a response, which is a {@link singleLine} already. */
  response(type: string, line: readonly JsonFragment[]): void {
    this.frames.push(`${this.head(type)}"response":`, ...line, `}${FRAME_END}`);
  }

  /** The beginning of an event, up to its own members. */
  private head(type: string): string {
    return `${frameStart(type)}{"type":"${type}","sequence_number":${this.events++},`;
  }

  open(head: ResponseHead): void {
    const line = responseLine(head, IN_PROGRESS);
    this.response('response.created', line);
    this.response('response.in_progress', line);
  }

  /** The deltas of a text, each in its own event; the text in pieces that no code point is cut by. */
  deltas(type: string, at: string, text: string, rest = ''): void {
    for (const piece of pieces(text)) this.event(type, `${at},"delta":${jsonString(piece)}${rest}`);
  }

  bytes(): Buffer {
    return joinFragments(this.frames);
  }
}

function writeItem(stream: EventWriter, item: JsonNode, index: number): void {
  const at = `"output_index":${index}`;
  const inItem = `"item_id":${memberText(item, 'id')},${at}`;
  stream.event('response.output_item.added', `${at},"item":${openedItem(item)}`);
  switch (item.get('type')?.string()) {
    case 'reasoning':
      writeSummary(stream, item, inItem);
      writeParts(stream, item, inItem);
      break;
    case 'message':
      writeParts(stream, item, inItem);
      break;
    case 'function_call':
      stream.deltas('response.function_call_arguments.delta', inItem, stringMember(item, 'arguments'));
      stream.event(
        'response.function_call_arguments.done',
        `${inItem},"name":${memberText(item, 'name')},"arguments":${memberText(item, 'arguments')}`,
      );
      break;
    case 'custom_tool_call':
      stream.deltas('response.custom_tool_call_input.delta', inItem, stringMember(item, 'input'));
      stream.event('response.custom_tool_call_input.done', `${inItem},"input":${memberText(item, 'input')}`);
      break;
    default:
      break;
  }
  stream.event('response.output_item.done', `${at},"item":${item.rawText()}`);
}

function writeSummary(stream: EventWriter, item: JsonNode, inItem: string): void {
  for (const [index, part] of (item.get('summary')?.elements() ?? []).entries()) {
    const at = `${inItem},"summary_index":${index}`;
    stream.event('response.reasoning_summary_part.added', `${at},"part":{"type":"summary_text","text":""}`);
    stream.deltas('response.reasoning_summary_text.delta', at, stringMember(part, 'text'));
    stream.event('response.reasoning_summary_text.done', `${at},"text":${memberText(part, 'text')}`);
    stream.event('response.reasoning_summary_part.done', `${at},"part":${part.rawText()}`);
  }
}

/** How a content part is opened, and which events tell it. */
const PARTS = {
  output_text: {
    opened: '{"type":"output_text","text":"","annotations":[],"logprobs":[]}',
    member: 'text',
    event: 'response.output_text',
    rest: ',"logprobs":[]',
  },
  refusal: { opened: '{"type":"refusal","refusal":""}', member: 'refusal', event: 'response.refusal', rest: '' },
  reasoning_text: {
    opened: '{"type":"reasoning_text","text":""}',
    member: 'text',
    event: 'response.reasoning_text',
    rest: '',
  },
} as const;

function writeParts(stream: EventWriter, item: JsonNode, inItem: string): void {
  for (const [index, part] of (item.get('content')?.elements() ?? []).entries()) {
    const { opened, member, event, rest } = PARTS[stringMember(part, 'type') as keyof typeof PARTS];
    const at = `${inItem},"content_index":${index}`;
    stream.event('response.content_part.added', `${at},"part":${opened}`);
    stream.deltas(`${event}.delta`, at, stringMember(part, member), rest);
    stream.event(`${event}.done`, `${at},"${member}":${memberText(part, member)}${rest}`);
    stream.event('response.content_part.done', `${at},"part":${part.rawText()}`);
  }
}

/** Members of an item that its events fill, as they are before the first of them. */
const UNFILLED: Readonly<Record<string, string>> = {
  status: '"in_progress"',
  content: '[]',
  summary: '[]',
  arguments: '""',
  input: '""',
};

function openedItem(item: JsonNode): string {
  const isSearch = item.get('type')?.string() === 'tool_search_call';
  const members: string[] = [];
  // The item is ours: no member stands twice.
  for (let at = 0; at < item.keys.length; at++) {
    const key = item.keys[at] as string;
    const value = item.children[at] as JsonNode;
    if (key === 'encrypted_content') continue;
    const unfilled = isSearch && key === 'arguments' ? '{}' : UNFILLED[key];
    members.push(`${jsonString(key)}:${unfilled ?? value.rawText()}`);
  }
  return `{${members.join(',')}}`;
}

function memberText(node: JsonNode, name: string): string {
  return node.get(name)?.rawText() ?? 'null';
}

function stringMember(node: JsonNode, name: string): string {
  return node.get(name)?.string() ?? '';
}
