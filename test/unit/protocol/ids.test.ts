import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type IdPrefix, madeId } from '../../../src/protocol/ids.ts';

const PREFIXES: readonly IdPrefix[] = ['msg', 'rs', 'fc', 'ctc', 'tsc', 'call', 'toolu', 'resp', 'chatcmpl'];

test('an id is its prefix and 32 letters or digits', () => {
  for (const prefix of PREFIXES) assert.match(madeId(prefix, 'call-1', 3), new RegExp(`^${prefix}_[A-Za-z0-9]{32}$`));
});

test('the same call, prefix and index give the same id', () => {
  assert.equal(madeId('msg', 'c', 1), madeId('msg', 'c', 1));
  assert.equal(madeId('msg', 'c'), madeId('msg', 'c', 0));
});

test('any difference gives another id', () => {
  const ids = new Set<string>();
  for (const prefix of PREFIXES)
    for (const callId of ['c', 'c1', '1'])
      for (const index of [0, 1, 11]) ids.add(madeId(prefix, callId, index).slice(prefix.length));
  assert.equal(ids.size, PREFIXES.length * 9);
});
