import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evidenceOf } from '../../../src/lineage/evidence.ts';
import { type ItemSketch, sketchOf } from '../../../src/lineage/sketch.ts';
import { readMessages } from '../../../src/protocol/chat/read-messages.ts';
import type { UserMessage } from '../../../src/protocol/conversation.ts';
import { stringNode } from '../../../src/protocol/messages/composed-node.ts';
import { json } from '../../support/chat-conversion.ts';
import { user } from './support.ts';

const sketch = (message: UserMessage): ItemSketch => sketchOf(message, evidenceOf(message, 'required'));

/** Sketch of a user message whose text came as this JSON string. */
function sketchOfJson(text: string): ItemSketch {
  const [message] = readMessages(json(`[{"role":"user","content":${text}}]`)) as [UserMessage];
  assert.notEqual(message.textNode, undefined);
  return sketch(message);
}

const unit = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;
const allEscaped = (text: string) =>
  `"${Array.from({ length: text.length }, (_, at) => unit(text.charCodeAt(at))).join('')}"`;

const TEXTS = [
  '',
  'a',
  '"quoted"\n\t\\',
  '/slash',
  '\u0001\u007f',
  'caf\u00e9 "x"',
  '\u0100\n',
  '\u2028',
  '\u{1f600}\\',
  'x'.repeat(40_000),
];

test('a text has the same sketch however it is spelled, with its length in code units', () => {
  for (const text of TEXTS) {
    const wanted = sketch(user(text));
    assert.equal(wanted.parts?.[0]?.n, text === '' ? undefined : text.length, JSON.stringify(text));
    assert.deepEqual(sketchOfJson(JSON.stringify(text)), wanted);
    assert.deepEqual(sketchOfJson(allEscaped(text)), wanted);
    assert.deepEqual(sketchOfJson(`"${JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')}"`), wanted);
    assert.deepEqual(sketch({ ...user(text), textNode: stringNode(text) }), wanted);
  }
});

test('the same for any text, and another sketch for another text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, other) => {
      assert.deepEqual(sketchOfJson(JSON.stringify(text)), sketch(user(text)));
      assert.equal(sketch(user(text)).parts?.[0]?.d === sketch(user(other)).parts?.[0]?.d, text === other);
    }),
  );
});
