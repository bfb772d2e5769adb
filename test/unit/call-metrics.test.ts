import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Histogram, Registry } from 'prom-client';
import { CallCounter, CallHistogram } from '../../src/call-metrics.ts';

const BUCKETS = [0.0002, 0.01, 1, 5];

test('a histogram prints what one of prom-client prints', async () => {
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

test('a counter prints what one of prom-client prints', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const about = { name: 'some_total', help: 'Some' };
  const labelNames = ['kind', 'cause', 'outcome'] as const;
  const counted = new CallCounter<[string, string, string]>({ ...about, labelNames, registers: [ours] });
  const usual = new Counter({ ...about, labelNames, registers: [theirs] });
  assert.equal(await ours.metrics(), await theirs.metrics());
  const counts = [
    ['root', '', 'ok'],
    ['continuation', '', 'ok'],
    ['root', 'unmatched', '500'],
    ['root', '', 'ok'],
    ['unmatched', 'root', '500'],
    ['root', '', 'ok'],
  ] as const;
  for (const [kind, cause, outcome] of counts) {
    counted.inc(kind, cause, outcome);
    usual.inc({ kind, cause, outcome });
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
