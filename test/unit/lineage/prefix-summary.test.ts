import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replayDigest } from '../../../src/lineage/digest.ts';
import { PrefixSummarizer, prefixSummary } from '../../../src/lineage/prefix-summary.ts';
import type { EvidenceItem } from '../../../src/lineage/types.ts';

const hex = (n: number) => n.toString(16).padStart(64, '0');
const item = (n: number, second: number | null = null): EvidenceItem => ({
  role: second === null ? 'user' : 'assistant',
  digest: hex(n),
  emptyToolContentDigest: second === null ? null : hex(second),
  reasoningDigest: null,
});

/** The definition, written down once more. */
function expected(items: readonly EvidenceItem[]) {
  const digest = (pick: (item: EvidenceItem) => string) =>
    replayDigest(`{"items":${JSON.stringify(items.map((one) => [one.role, pick(one)]))},"normalization_version":1}`);
  return {
    itemCount: items.length,
    sourceDigest: digest((one) => one.digest),
    emptyToolContentDigest: digest((one) => one.emptyToolContentDigest ?? one.digest),
  };
}

test('summaries of every prefix of a long history', () => {
  const items = Array.from({ length: 900 }, (_, n) => item(n, n > 400 && n % 7 === 0 ? n + 10_000 : null));
  const running = new PrefixSummarizer();
  for (const [at, one] of items.entries()) {
    running.push(one);
    if (at % 50 === 0 || at > 890) assert.deepEqual(running.summary(), expected(items.slice(0, at + 1)));
  }
  assert.deepEqual(prefixSummary(items), expected(items));
  assert.deepEqual(prefixSummary([]), expected([]));
});

test('second digests that are the first ones change nothing', () => {
  const summary = prefixSummary([item(1), item(2, 2)]);
  assert.equal(summary.emptyToolContentDigest, summary.sourceDigest);
  assert.notEqual(prefixSummary([item(1), item(2, 3)]).emptyToolContentDigest, summary.sourceDigest);
  assert.equal(prefixSummary([item(1), item(2, 3)]).sourceDigest, summary.sourceDigest);
});

test('a fork goes its own way', () => {
  for (const length of [3, 500]) {
    const items = Array.from({ length }, (_, n) => item(n, n === 1 ? 99 : null));
    const trunk = new PrefixSummarizer();
    for (const one of items) trunk.push(one);
    const branch = trunk.fork();
    branch.push(item(7));
    trunk.push(item(8, 9));
    assert.deepEqual(branch.summary(), expected([...items, item(7)]));
    assert.deepEqual(trunk.summary(), expected([...items, item(8, 9)]));
  }
});
