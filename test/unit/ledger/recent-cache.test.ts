import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentCache } from '../../../src/ledger/recent-cache.ts';

test('the latest half of the limit is always there, and never more than the limit', () => {
  const cache = new RecentCache<number, string>(4);
  for (let key = 0; key < 101; key++) {
    cache.set(key, `row ${key}`);
    assert.equal(cache.get(key), `row ${key}`);
    if (key > 0) assert.equal(cache.get(key - 1), `row ${key - 1}`);
    assert.equal(cache.get(key - 4), undefined);
  }
});

test('a row that is set again is the new one, also after the older ones have gone', () => {
  const cache = new RecentCache<string, number>(4);
  cache.set('a', 1);
  cache.set('b', 1);
  cache.set('a', 2);
  assert.equal(cache.get('a'), 2);
  cache.set('c', 1);
  cache.set('d', 1);
  assert.equal(cache.get('a'), 2);
  cache.set('e', 1);
  assert.equal(cache.get('a'), 2);
  cache.set('f', 1);
  assert.equal(cache.get('a'), undefined);
});

test('nothing is left after clear', () => {
  const cache = new RecentCache<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.clear();
  assert.deepEqual([cache.get('a'), cache.get('b')], [undefined, undefined]);
});
