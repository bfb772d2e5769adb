import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pieceSize, pieces, sseFrame } from '../../../src/protocol/sse.ts';

test('a frame is one data line, after its event line where it has a name', () => {
  assert.equal(sseFrame('{"a":1}'), 'data: {"a":1}\n\n');
  assert.equal(sseFrame('{"a":1}', 'ping'), 'event: ping\ndata: {"a":1}\n\n');
});

test('no value can break its line, whatever a client takes for a line break', () => {
  const value = { text: 'a\nb\rc\u2028d\u2029e\u0085f\u001cg', 'k\u2028': 1 };
  const frame = sseFrame(JSON.stringify(value, null, 2).replaceAll('\n', '\r\n'));
  const data = frame.slice('data: '.length, -2);
  for (const breaker of ['\n', '\r', '\u2028', '\u2029', '\u0085', '\u001c']) assert.ok(!data.includes(breaker));
  assert.deepEqual(JSON.parse(data), value);
});

test('pieces joined are the text; no pair is cut; none is empty or too long', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('a', '😀', '\ud83d', '\ude00', '\u2028', 'é', '\0'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    ),
    maxLength: 60,
  });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (whole, size) => {
      const cut = pieces(whole, size);
      assert.equal(cut.join(''), whole);
      for (const piece of cut) assert.ok(piece.length > 0 && piece.length <= Math.max(2, size));
      for (let at = 1; at < cut.length; at++) {
        const seam = `${cut[at - 1]?.at(-1)}${cut[at]?.[0]}`;
        assert.ok(!/^[\ud800-\udbff][\udc00-\udfff]$/.test(seam), 'a pair was cut');
      }
    }),
  );
});

test('an emoji on the border moves to one side', () => {
  assert.deepEqual(pieces('abc😀d', 4), ['abc', '😀d']);
  assert.deepEqual(pieces('😀😀', 2), ['😀', '😀']);
  assert.deepEqual(pieces('😀😀', 3), ['😀', '😀']);
});

test('lone surrogates stay', () => {
  assert.deepEqual(pieces('\ud83dab', 2), ['\ud83da', 'b']);
  assert.deepEqual(pieces('ab\ud83d', 2), ['ab', '\ud83d']);
  assert.deepEqual(pieces('\ude00\ude00\ude00', 2), ['\ude00\ude00', '\ude00']);
});

test('an empty text has no pieces; the size grows with the text', () => {
  assert.deepEqual(pieces(''), []);
  assert.equal(pieces('x'.repeat(64)).length, 1);
  assert.equal(pieces('x'.repeat(65)).length, 2);
  assert.equal(pieceSize(1_048_576), 4096);
  assert.equal(pieces('x'.repeat(1_048_576)).length, 256);
});
