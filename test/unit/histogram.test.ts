import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import { CallHistogram } from '../../src/histogram.ts';

const BUCKETS = [0.0002, 0.01, 1, 5];

test('it prints what a histogram of prom-client prints', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const about = { name: 'some_seconds', help: 'Some time', buckets: BUCKETS };
  const counted = new CallHistogram<'parse' | 'commit'>({ ...about, labelName: 'phase', registers: [ours] });
  const usual = new Histogram({ ...about, labelNames: ['phase'], registers: [theirs] });
  assert.equal(await ours.metrics(), await theirs.metrics());
  const observations = [
    ['parse', 0],
    ['commit', 0.25],
    ['parse', 0.0002],
    ['parse', 0.01],
    ['parse', 0.0100001],
    ['commit', 5],
    ['commit', 5.5],
    ['parse', 7200],
  ] as const;
  for (const [phase, seconds] of observations) {
    counted.observe(phase, seconds);
    usual.observe({ phase }, seconds);
    assert.equal(await ours.metrics(), await theirs.metrics());
  }
});

test('a name is taken once', () => {
  const registry = new Registry();
  const make = () =>
    new CallHistogram({ name: 'same', help: 'x', labelName: 'l', buckets: BUCKETS, registers: [registry] });
  make();
  assert.throws(make, /already been registered/);
});
