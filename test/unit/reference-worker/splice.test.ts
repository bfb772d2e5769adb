import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { splice } from '../../../src/reference-worker/splice.ts';

interface Row {
  name: string;
  eos: number;
  exact_prefix: number[];
  rendered_history: number[];
  rendered_full: number[];
  prompt: number[] | null;
}
const vectors = JSON.parse(readFileSync(new URL('../../vectors/vectors.json', import.meta.url), 'utf8')) as {
  splice: { rows: Row[] };
};
assert.ok(vectors.splice.rows.length > 0);

for (const row of vectors.splice.rows) {
  test(`splice vector: ${row.name}`, () => {
    const outcome = splice({
      exactPrefix: row.exact_prefix,
      renderedHistory: row.rendered_history,
      renderedFull: row.rendered_full,
      eos: row.eos,
    });
    assert.deepEqual(outcome.kind === 'spliced' ? outcome.prompt : null, row.prompt);
  });
}

test('the prompt begins with the whole exact prefix, and says what came from where', () => {
  const outcome = splice({ exactPrefix: [1, 2, 9], renderedHistory: [1, 3, 9], renderedFull: [1, 3, 9, 5], eos: 9 });
  assert.deepEqual(outcome, { kind: 'spliced', prompt: [1, 2, 9, 5], kept: 2, from: 2 });
});

test('fewer end tokens in the full rendering than in the history is an error', () => {
  const outcome = splice({ exactPrefix: [1], renderedHistory: [9, 9], renderedFull: [9, 5], eos: 9 });
  assert.equal(outcome.kind, 'error');
});

test('without a template: the exact prefix and what the full rendering has after the history', () => {
  const outcome = splice({
    exactPrefix: [10, 11, 1001],
    renderedHistory: [10, 11, 7, 7],
    renderedFull: [10, 11, 7, 7, 20, 21],
    eos: null,
  });
  assert.deepEqual(outcome, { kind: 'spliced', prompt: [10, 11, 1001, 20, 21], kept: 3, from: 4 });
});

test('without a template a history that the full rendering does not begin with is an error', () => {
  const outcome = splice({ exactPrefix: [1], renderedHistory: [1, 2], renderedFull: [1, 3, 4], eos: null });
  assert.equal(outcome.kind, 'error');
});
