import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTokenizer, FIRST_TEXT_TOKEN, VOCABULARY_SIZE } from '../../../src/reference-worker/tokenizer.ts';

const text = 'The quick-brown fox 🦊 jumps: 1234567 times\n\n  über\tincomprehensibilities';

describe('the toy tokenizer', () => {
  test('ids are the same in every tokenizer and process', () => {
    assert.deepEqual(createTokenizer().encode('hello world'), createTokenizer().encode('hello world'));
    assert.deepEqual(createTokenizer().encode('hello world'), [48299, 116189]);
  });

  test('no text becomes a special token or a token beyond the vocabulary', () => {
    for (const id of createTokenizer().encode(`${text}<|end|>\u0000\u0002`)) {
      assert.ok(id >= FIRST_TEXT_TOKEN && id < VOCABULARY_SIZE, String(id));
    }
  });

  test('sampled pieces join to the text, and are cut otherwise than a rendering', () => {
    const tokenizer = createTokenizer();
    const sampled = tokenizer.sample(text);
    assert.equal(sampled.map((piece) => piece.text).join(''), text);
    assert.ok(sampled.every((piece) => piece.text.isWellFormed()));
    assert.notDeepEqual(
      sampled.map((piece) => piece.id),
      tokenizer.encode(text),
    );
  });

  test('a long text gives the same ids the second time', () => {
    const tokenizer = createTokenizer();
    const long = 'lorem ipsum '.repeat(100);
    assert.deepEqual(tokenizer.encode(long), tokenizer.encode(long));
    assert.deepEqual(tokenizer.encode(long), createTokenizer().encode(long));
    assert.equal(tokenizer.encode(long).length, 201);
  });

  test('a text that is an entry of the vocabulary becomes its ids, a text that holds it does not', () => {
    const tokenizer = createTokenizer(
      new Map([
        ['task', [10, 11]],
        ['answer', []],
      ]),
    );
    assert.deepEqual(tokenizer.encode('task'), [10, 11]);
    assert.deepEqual(tokenizer.encode('answer'), []);
    assert.deepEqual(tokenizer.sample('task'), [
      { id: 10, text: 'task' },
      { id: 11, text: '' },
    ]);
    assert.ok(tokenizer.encode('task ').every((id) => id >= FIRST_TEXT_TOKEN));
  });

  test('an empty text has no tokens', () => {
    assert.deepEqual(createTokenizer().encode(''), []);
    assert.deepEqual(createTokenizer().sample(''), []);
  });
});
