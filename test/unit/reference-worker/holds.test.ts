import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HeldCall, Holds } from '../../../src/reference-worker/holds.ts';

const call = (attempt: string, id: string, at: HeldCall['at'] = 'answer'): HeldCall => ({
  capture_key: attempt,
  model_call_id: id,
  at,
});

test('a held call waits until it is released', async () => {
  const holds = new Holds();
  const order: string[] = [];
  const waiting = holds.hold(call('a', 'c1')).then(() => order.push('answered'));
  await holds.whenHeld(1);
  order.push('released');
  assert.equal(holds.release(), 1);
  await waiting;
  assert.deepEqual(order, ['released', 'answered']);
  assert.deepEqual(holds.list(), []);
});

test('only calls that match are released, the longest waiting first', async () => {
  const holds = new Holds();
  for (const one of [call('a', 'c1'), call('b', 'c2'), call('a', 'c3', 'admission'), call('a', 'c4')])
    void holds.hold(one);
  const left = () => holds.list().map((one) => one.model_call_id);
  assert.equal(holds.release({ attempt: 'a', count: 1 }), 1);
  assert.deepEqual(left(), ['c2', 'c3', 'c4']);
  assert.equal(holds.release({ at: 'admission' }), 1);
  assert.equal(holds.release({ model_call_id: 'c2' }), 1);
  assert.equal(holds.release({ attempt: 'nobody' }), 0);
  assert.deepEqual(left(), ['c4']);
});

test('waiting for held calls ends when the caller gives up', async () => {
  const stop = new AbortController();
  const waiting = new Holds().whenHeld(1, stop.signal);
  stop.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
});
