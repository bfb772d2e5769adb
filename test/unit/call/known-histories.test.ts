import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KnownHistories } from '../../../src/call/known-histories.ts';
import { parseBody } from '../../../src/call/parse-call.ts';
import type { JsonNode } from '../../../src/protocol/json/json-node.ts';

const message = (text: string) => `{"role":"user","content":${JSON.stringify(text)}}`;
const bodyOf = (texts: readonly string[], rest = '') => `{"messages":[${texts.map(message)}]${rest}}`;

/** Reads a request of an attempt and remembers it. */
function read(known: KnownHistories, attempt: string, text: string): JsonNode {
  const seen = known.of(attempt, 'chat');
  assert.ok(seen !== null);
  const body = parseBody(Buffer.from(text), 64, seen);
  assert.ok('bytes' in body);
  known.remember(attempt, 'chat', seen, body);
  return body;
}

const messagesOf = (body: JsonNode) => body.get('messages')?.children as readonly JsonNode[];

/** How many messages of a request are those of an earlier one. */
function taken(known: KnownHistories, attempt: string, texts: readonly string[]): number {
  const before = new Set(known.of(attempt, 'chat')?.lists.flat());
  return messagesOf(read(known, attempt, bodyOf(texts))).filter((node) => before.has(node)).length;
}

describe('known histories', () => {
  test('take over what comes again from the beginning, up to the first difference', () => {
    const known = new KnownHistories(1_000_000);
    assert.equal(taken(known, 'a', ['1', '2']), 0);
    assert.equal(taken(known, 'a', ['1', '2', '3', '4']), 2);
    assert.equal(taken(known, 'a', ['1', '2', 'x', '4', '5']), 2);
    // Both branches go on.
    assert.equal(taken(known, 'a', ['1', '2', '3', '4', '5']), 4);
    assert.equal(taken(known, 'a', ['1', '2', 'x', '4', '5', '6']), 5);
    assert.equal(taken(known, 'a', ['2', '1']), 0);
    assert.equal(taken(known, 'b', ['1', '2']), 0);
  });

  test('know four branches of an attempt, and forget the one that was not used for longest', () => {
    const known = new KnownHistories(1_000_000);
    for (const branch of ['1', '2', '3', '4', '5']) taken(known, 'a', [branch]);
    assert.equal(taken(known, 'a', ['2', 'more']), 1);
    assert.equal(taken(known, 'a', ['1', 'more']), 0);
  });

  test('take over long members beside the history, wherever they stand', () => {
    const known = new KnownHistories(1_000_000);
    const tools = `,"tools":[{"d":"${'x'.repeat(300)}"}]`;
    const first = read(known, 'a', bodyOf(['1'], tools));
    const second = read(known, 'a', bodyOf(['1', '2'], `,"n":1${tools}`));
    assert.equal(second.get('tools'), first.get('tools'));
    const third = read(known, 'a', bodyOf(['1', '2'], tools.replace('"d"', '"e"')));
    assert.equal(third.get('tools')?.rawText(), `[{"e":"${'x'.repeat(300)}"}]`);
  });

  test('do not hold on to the texts of requests', () => {
    const known = new KnownHistories(1_000_000);
    const first = read(known, 'a', bodyOf(['1', '2']));
    const second = read(known, 'a', bodyOf(['1', '2', '3', '4']));
    const [one, two, three, four] = messagesOf(second) as [JsonNode, JsonNode, JsonNode, JsonNode];
    assert.deepEqual(
      [one, two, three, four].map((node) => [node.rawText(), node.get('content')?.string(), node.bytes.length]),
      ['1', '2', '3', '4'].map((text) => [message(text), text, 2 * message('1').length + 1]),
    );
    assert.ok([first, second].every(({ bytes }) => bytes !== one.bytes && bytes !== three.bytes));
    assert.ok(one.bytes === two.bytes && three.bytes === four.bytes);
  });

  test('stay within their bytes: the attempt that was not used for longest goes first', () => {
    const size = message('1').length;
    const known = new KnownHistories(3 * size);
    for (const attempt of ['a', 'b', 'c']) taken(known, attempt, ['1']);
    assert.equal(known.bytes, 3 * size);
    assert.equal(taken(known, 'a', ['1', '2']), 1);
    assert.equal(known.bytes, 3 * size);
    assert.equal(taken(known, 'b', ['1']), 0);
    assert.equal(known.bytes, 3 * size);
    assert.equal(taken(known, 'd', ['1', '2', '3', '4']), 0);
    assert.equal(known.bytes, 0);
  });

  test('forget attempts that were idle for two minutes', () => {
    let nowMs = 0;
    const known = new KnownHistories(1_000_000, () => nowMs);
    taken(known, 'a', ['1']);
    nowMs = 120_000;
    taken(known, 'b', ['1']);
    assert.equal(known.bytes, 2 * message('1').length);
    nowMs = 120_001;
    taken(known, 'b', ['1', '2']);
    assert.equal(known.bytes, 2 * message('1').length);
    assert.equal(taken(known, 'a', ['1']), 0);
  });

  test('keep nothing where they may not', () => {
    assert.equal(new KnownHistories(0).of('a', 'chat'), null);
  });
});
