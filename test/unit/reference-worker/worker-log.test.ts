import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WorkerEvent, WorkerLog } from '../../../src/reference-worker/worker-log.ts';

test('events are numbered and stamped; what does not apply is null', () => {
  const seen: WorkerEvent[] = [];
  const log = new WorkerLog(
    () => 12.5,
    10,
    (event) => seen.push(event),
  );
  log.add('admitted', { capture_key: 'a', model_call_id: 'c1' });
  assert.deepEqual(log.list(), [
    {
      seq: 1,
      at: 12.5,
      event: 'admitted',
      capture_key: 'a',
      model_call_id: 'c1',
      parent_call_id: null,
      prev_len: null,
      delta_len: null,
      cum_len: null,
      weight_version: null,
      status: null,
      detail: null,
    },
  ]);
  assert.deepEqual(seen, log.list());
});

test('only the newest are kept, and numbers go on', () => {
  const log = new WorkerLog(
    () => 0,
    3,
    () => undefined,
  );
  for (let call = 0; call < 20; call++) log.add('plain', {});
  const numbers = (after?: number) => log.list(after).map(({ seq }) => seq);
  assert.deepEqual(numbers(), [18, 19, 20]);
  assert.deepEqual(numbers(19), [20]);
});
