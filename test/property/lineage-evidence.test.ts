import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evidenceOf } from '../../src/lineage/evidence.ts';
import { prefixSummary } from '../../src/lineage/prefix-summary.ts';
import type { EngineMessage, EnginePart } from '../../src/protocol/conversation.ts';
import { argumentsObject, assistantMessage, history, media, text, toolCall } from '../unit/lineage/arbitraries.ts';

const summaryOf = (messages: readonly EngineMessage[]) =>
  prefixSummary(messages.map((message) => evidenceOf(message, 'required')));
const sourceDigest = (messages: readonly EngineMessage[]) => summaryOf(messages).sourceDigest;

/** Arguments as another client writes them back. */
function rewritten(args: string, style: number): string {
  let value: unknown;
  try {
    value = JSON.parse(args);
  } catch {
    return args;
  }
  // A number beyond the doubles does not survive JavaScript: that is a rewrite, and no part of this test.
  if (/\de[+]?\d{3,}/.test(args)) return args;
  switch (style % 4) {
    case 0:
      return JSON.stringify(value);
    case 1:
      return pythonJson(value);
    case 2:
      return JSON.stringify(reversed(value), null, 2);
    default:
      return args === '{}' ? '' : ` ${args}\n`;
  }
}

/** As Python's json.dumps: spaces after separators, everything but ASCII escaped, floats for integers beyond 2^53. */
function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, member]) => `${pythonJson(key)}: ${pythonJson(member)}`);
    return `{${members.join(', ')}}`;
  }
  if (typeof value === 'number') return Number.isInteger(value) ? `${value}` : value.toExponential();
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, reversed(member)])
      .reverse(),
  );
}

function partEcho(part: EnginePart, style: number): EnginePart {
  if (part.type === 'text') return part;
  const { type, image_url } = JSON.parse(part.json as string) as { type: string; image_url: object };
  const echo =
    style % 2 === 0
      ? { type, image_url: { ...image_url, detail: 'auto' } }
      : { cache_control: {}, image_url, x: null, type };
  return { ...part, json: Buffer.from(JSON.stringify(echo)) };
}

function contentEcho(content: string | readonly EnginePart[], style: number): string | readonly EnginePart[] {
  if (typeof content === 'string') return style % 2 === 0 ? [{ type: 'text', text: content }] : content;
  const [first] = content;
  if (content.length === 1 && first?.type === 'text' && style % 3 === 0) return first.text;
  return content.map((part) => partEcho(part, style));
}

/** A faithful echo of a message in another shape. */
function echoOf(message: EngineMessage, style: number): EngineMessage {
  const { name: _, ...rest } = message as EngineMessage & { name?: string };
  const verbatim = style % 5 === 0 ? Buffer.from('{}') : undefined;
  if (message.role !== 'assistant')
    return { ...message, content: contentEcho(message.content, style), verbatim } as EngineMessage;
  const silent = message.toolCalls.length === 0 && (message.content === null || message.content === '');
  return {
    ...(rest as typeof message),
    content: silent
      ? (([null, '', []] as const)[style % 3] as null)
      : (contentEcho(message.content ?? [], style) as string),
    reasoning: message.reasoning?.trim() === '' ? (([null, '', '\n '] as const)[style % 3] as null) : message.reasoning,
    refusal: message.refusal === '' ? null : message.refusal,
    toolCalls: message.toolCalls.map((call) => ({ ...call, arguments: rewritten(call.arguments, style) })),
    echoedIds: [`msg_${style}`],
    verbatim,
  };
}

test('a faithful echo, whatever its shape, has the same summary', () => {
  fc.assert(
    fc.property(history, fc.infiniteStream(fc.nat(60)), (messages, styles) => {
      const echo = messages.map((message) => echoOf(message, styles.next().value as number));
      assert.deepEqual(summaryOf(echo), summaryOf(messages));
    }),
    { numRuns: 500 },
  );
});

test('null and empty content beside calls: exact digests differ, the second ones agree', () => {
  fc.assert(
    fc.property(history, assistantMessage, toolCall, (messages, turn, call) => {
      const withContent = (content: string | null) => summaryOf([...messages, { ...turn, content, toolCalls: [call] }]);
      const [absent, empty] = [withContent(null), withContent('')];
      assert.notEqual(absent.sourceDigest, empty.sourceDigest);
      assert.equal(absent.emptyToolContentDigest, empty.emptyToolContentDigest);
      assert.notEqual(withContent('x').emptyToolContentDigest, empty.emptyToolContentDigest);
    }),
  );
});

/** Changes that are smallest, each of which must count. `null` where a message has nothing of the kind. */
const CHANGES: readonly [string, (message: EngineMessage) => EngineMessage | null][] = [
  [
    'text',
    (m) => (typeof m.content === 'string' ? ({ ...m, content: changedText(m.content) } as EngineMessage) : null),
  ],
  [
    'white space',
    (m) => (typeof m.content === 'string' ? ({ ...m, content: `${m.content} ` } as EngineMessage) : null),
  ],
  [
    'one more part',
    (m) =>
      Array.isArray(m.content)
        ? ({ ...m, content: [...m.content, { type: 'text', text: 'x' }] } as EngineMessage)
        : null,
  ],
  [
    'an image',
    (m) =>
      Array.isArray(m.content) && m.content.some((part: EnginePart) => part.type === 'media')
        ? ({ ...m, content: m.content.map(changedMedia) } as EngineMessage)
        : null,
  ],
  ['reasoning', (m) => (m.role === 'assistant' ? { ...m, reasoning: `${m.reasoning ?? ''}x` } : null)],
  ['refusal', (m) => (m.role === 'assistant' ? { ...m, refusal: `${m.refusal ?? ''}x` } : null)],
  [
    'one more call',
    (m) =>
      m.role === 'assistant'
        ? { ...m, toolCalls: [...m.toolCalls, { id: 'call_9', name: 'f', arguments: '{}' }] }
        : null,
  ],
  [
    'one call less',
    (m) => (m.role === 'assistant' && m.toolCalls.length > 0 ? { ...m, toolCalls: m.toolCalls.slice(1) } : null),
  ],
  ['call id', (m) => changedCall(m, (call) => ({ ...call, id: `${call.id}x` }))],
  ['call name', (m) => changedCall(m, (call) => ({ ...call, name: `${call.name}x` }))],
  ['arguments as text', (m) => changedCall(m, (call) => ({ ...call, arguments: JSON.stringify(call.arguments) }))],
  ['tool call id', (m) => (m.role === 'tool' ? { ...m, toolCallId: `${m.toolCallId}x` } : null)],
  ['name', (m) => (m.role === 'user' || m.role === 'system' ? { ...m, name: 'x' } : null)],
  ['role', (m) => ({ ...m, role: m.role === 'user' ? 'system' : 'user', content: m.content ?? '' }) as EngineMessage],
];

function changedText(value: string): string {
  const last = value.charCodeAt(value.length - 1);
  return value === '' ? 'x' : value.slice(0, -1) + String.fromCharCode(last ^ 1);
}

function changedMedia(part: EnginePart): EnginePart {
  return part.type === 'text' ? part : { ...part, json: (part.json as string).replace('"}}', '#"}}') };
}

function changedCall(
  message: EngineMessage,
  change: (call: { id: string; name: string; arguments: string }) => { id: string; name: string; arguments: string },
): EngineMessage | null {
  if (message.role !== 'assistant' || message.toolCalls.length === 0) return null;
  return { ...message, toolCalls: message.toolCalls.map((call, at) => (at === 0 ? change(call) : call)) };
}

test('the smallest change of a history gives another summary', () => {
  const counted = new Map(CHANGES.map(([name]) => [name, 0]));
  fc.assert(
    fc.property(history, fc.nat(), (messages, place) => {
      const at = place % messages.length;
      for (const [name, change] of CHANGES) {
        const changed = change(messages[at] as EngineMessage);
        if (changed === null) continue;
        counted.set(name, (counted.get(name) ?? 0) + 1);
        assert.notEqual(sourceDigest(messages.with(at, changed)), sourceDigest(messages), name);
      }
    }),
    { numRuns: 500 },
  );
  for (const [name, count] of counted) assert.ok(count > 0, `never tried: ${name}`);
});

test('one argument value, or one argument more, counts', () => {
  fc.assert(
    fc.property(argumentsObject, fc.string(), (value, key) => {
      const digest = (args: object) =>
        evidenceOf(
          {
            role: 'assistant',
            content: null,
            reasoning: null,
            refusal: null,
            echoedIds: [],
            toolCalls: [{ id: 'c', name: 'f', arguments: JSON.stringify(args) }],
          },
          'required',
        ).digest;
      const changed = { ...value, [key]: [value[key] ?? null, 0] };
      assert.notEqual(digest(changed), digest(value));
      for (const name of Object.keys(value)) {
        const { [name]: _, ...less } = value;
        assert.notEqual(digest(less), digest(value));
      }
    }),
  );
});

test('order counts: of messages, of parts, of calls', () => {
  fc.assert(
    fc.property(history, assistantMessage, media, text, (messages, turn, image, words) => {
      const swapped = messages.toReversed();
      const same = messages.every(
        (message, at) => sourceDigest([message]) === sourceDigest([swapped[at] as EngineMessage]),
      );
      assert.equal(sourceDigest(swapped) === sourceDigest(messages), same);
      const parts: EnginePart[] = [image, { type: 'text', text: words }];
      assert.notEqual(
        sourceDigest([{ role: 'user', content: parts }]),
        sourceDigest([{ role: 'user', content: parts.toReversed() }]),
      );
      const calls = [
        { id: 'a', name: 'f', arguments: '{}' },
        { id: 'b', name: 'f', arguments: '{}' },
      ];
      assert.notEqual(
        sourceDigest([{ ...turn, toolCalls: calls }]),
        sourceDigest([{ ...turn, toolCalls: calls.toReversed() }]),
      );
    }),
  );
});
