import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formDigest, textDigest } from '../../../src/lineage/digest.ts';
import { json } from '../../support/chat-conversion.ts';

test('the digest of a JSON string is that of its text, with the length of the text', () => {
  const texts = ['', 'a', '"quoted"\n\t\\', 'caf\u00e9', '\u0100', '\u{1f600}', '\ud800 lone', 'x'.repeat(40_000)];
  for (const text of texts) {
    assert.deepEqual(textDigest(json(JSON.stringify(text))), { length: text.length, digest: formDigest(text) });
    const escaped = Array.from({ length: text.length }, (_, at) => unit(text.charCodeAt(at))).join('');
    assert.deepEqual(textDigest(json(`"${escaped}"`)), { length: text.length, digest: formDigest(text) });
  }
});

test('the same for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.deepEqual(textDigest(json(JSON.stringify(text))), { length: text.length, digest: formDigest(text) });
    }),
  );
});

const unit = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;
