import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyPatch, FaultQueue, fault } from '../../../src/reference-worker/faults.ts';
import type { CallFacts } from '../../../src/reference-worker/match.ts';

const facts: CallFacts = {
  route: 'chat',
  attempt: 'a',
  modelCallId: 'c1',
  model: 'policy',
  callIndex: 0,
  attemptIndex: 0,
  turn: 0,
  lastText: '',
  lastRole: 'user',
  hasTools: false,
};

function queue(...faults: unknown[]): FaultQueue {
  const armed = new FaultQueue();
  armed.arm(faults.map((one) => fault.parse(one)));
  return armed;
}
const kinds = (armed: FaultQueue, calls: Partial<CallFacts>[]) =>
  calls.map((change) => armed.take({ ...facts, ...change })?.kind ?? null);

test('faults hit in the order in which they were armed, each so often as it says, once by default', () => {
  const armed = queue({ kind: 'abort', times: 2 }, { kind: 'missing_id' });
  assert.deepEqual(kinds(armed, [{}, {}, {}, {}]), ['abort', 'abort', 'missing_id', null]);
});

test('times null hits until faults are cleared', () => {
  const armed = queue({ kind: 'abort', times: null });
  assert.deepEqual(kinds(armed, [{}, {}, {}]), ['abort', 'abort', 'abort']);
  armed.clear();
  assert.deepEqual(kinds(armed, [{}]), [null]);
  assert.deepEqual(armed.list(), []);
});

test('a fault waits for a call that it is for, on its route, and is used up by no other', () => {
  const armed = queue({ kind: 'abort', match: { attempt: 'b' } }, { kind: 'status', status: 500, route: 'models' });
  assert.deepEqual(kinds(armed, [{}, { attempt: 'b' }, { attempt: 'b' }, { route: 'models' }]), [
    null,
    'abort',
    null,
    'status',
  ]);
});

test('a fault that is not understood is refused', () => {
  assert.equal(fault.safeParse({ kind: 'explode' }).success, false);
  assert.equal(fault.safeParse({ kind: 'status' }).success, false);
  assert.equal(fault.safeParse({ kind: 'abort', status: 500 }).success, false);
});

test('a patch sets and takes away members and leaves its target alone', () => {
  const target = { a: 1, b: 2 };
  assert.deepEqual(applyPatch(target, { set: { a: null, c: 3 }, unset: ['b'] }), { a: null, c: 3 });
  assert.deepEqual(target, { a: 1, b: 2 });
});
