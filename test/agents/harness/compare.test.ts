import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareWithExpected, type Ledger } from './compare.ts';
import type { ScriptedCall } from './expectation.ts';
import { fatesOf, holdsTurn, type Schema } from './generations.ts';
import type { Exchange } from './tap.ts';

const REWRITE = { cause: 'history_differs', nearest: 'c1' };
const call = (id: string, expect: ScriptedCall['expect']): ScriptedCall => ({ id, answer: {}, expect });

/** A chain of two, a rewrite that keeps turns and what follows it, a conversation that begins anew, and a root of the worker's making. */
const CALLS: readonly ScriptedCall[] = [
  call('c1', { root: { cause: 'first_call' } }),
  call('c2', { parent: 'c1' }),
  call('edited', { root: REWRITE }),
  call('after', { parent: 'edited' }),
  call('anew', { root: { ...REWRITE, nearest: 'edited', beginsAnew: true, schema2: REWRITE } }),
  call('worker', { root: { cause: 'rooted_by_worker', nearest: 'anew' } }),
  call('lost', { root: { cause: 'rooted_by_worker', nearest: 'after' } }),
];

test('schema 3: every call comes to what is written down', () => {
  const roots = CALLS.flatMap(({ id, expect }) => ('root' in expect ? [[id, { kind: 'root', why: expect.root }]] : []));
  assert.deepEqual(Object.fromEntries(fatesOf(CALLS, 3)), {
    ...Object.fromEntries(roots),
    c2: { kind: 'continues', parent: 'c1' },
    after: { kind: 'continues', parent: 'edited' },
  });
});

test('schema 2: a rewrite and what follows it are unresolved, a conversation that begins anew is a root, a proposal stands', () => {
  assert.deepEqual(Object.fromEntries(fatesOf(CALLS, 2)), {
    c1: { kind: 'root', why: { cause: 'first_call' } },
    c2: { kind: 'continues', parent: 'c1' },
    edited: { kind: 'unresolved' },
    after: { kind: 'unresolved' },
    anew: { kind: 'root', why: REWRITE },
    worker: { kind: 'continues', parent: 'anew' },
    lost: { kind: 'unresolved' },
  });
  assert.throws(() => fatesOf([call('c1', { root: { cause: 'rooted_by_worker' } })], 2), /c1: say in `nearest`/);
});

test('whether a request holds a turn of the model, in every dialect', () => {
  const user = { role: 'user', content: 'go' };
  for (const [body, expected] of [
    [{ messages: [{ role: 'system', content: '' }, user] }, false],
    [{ messages: [user, { role: 'assistant', content: 'I' }, user] }, true],
    [{ input: 'go' }, false],
    [{ input: [{ type: 'message', ...user }] }, false],
    [{ input: [user, { type: 'function_call_output', call_id: 'x', output: '' }] }, false],
    [{ input: [user, { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' }] }, true],
    [{ input: [user, { type: 'reasoning', summary: [] }] }, true],
    [{ input: [user, { type: 'message', role: 'assistant', content: [] }] }, true],
  ] as const)
    assert.equal(holdsTurn(JSON.stringify(body)), expected, JSON.stringify(body));
});

describe('a ledger against what is written down', () => {
  const first = call('c1', { root: { cause: 'first_call' } });
  const edited = call('edited', { root: REWRITE });
  const record = (name: string, parent: string | null = null) => ({
    model_call_id: `id-${name}`,
    parent_call_id: parent === null ? null : `id-${parent}`,
    response_id: name,
  });
  const exchange = (name: string, holds: boolean): Exchange => ({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: {},
    body: JSON.stringify({ messages: holds ? [{ role: 'assistant', content: '' }] : [] }),
    status: 200,
    replyHeaders: { 'x-request-id': `id-${name}` },
    reply: JSON.stringify({ id: name }),
    abandoned: false,
  });
  const EXCHANGES = [exchange('c1', false), exchange('edited', true)];
  const ledger = (
    records: Ledger['manifest']['records'],
    failures: readonly (readonly [string, string])[],
  ): Ledger => ({
    complete: true,
    manifest: { records, failures: failures.map(([name, reason]) => ({ model_call_id: `id-${name}`, reason })) },
    pending_call_ids: [],
    refused: [],
    why_root: {
      'id-c1': { cause: 'first_call' },
      'id-edited': { ...REWRITE, model_call_id: 'id-c1', part: 'same_prompt' },
    },
  });
  const deviations = (schema: Schema, found: Ledger, exchanges = EXCHANGES) =>
    compareWithExpected([first, edited], schema, found, exchanges).deviations;

  test('schema 2: an unresolved call is one without a record and with its failure row', () => {
    const {
      counts,
      unresolved,
      roots,
      deviations: none,
    } = compareWithExpected([first, edited], 2, ledger([record('c1')], [['edited', 'unresolved_parent']]), EXCHANGES);
    assert.deepEqual(none, []);
    assert.deepEqual(counts, { calls: 2, continuations: 0, rootCalls: 1, wrongParents: 0, pending: 0, failures: 0 });
    assert.deepEqual(unresolved, ['edited']);
    assert.deepEqual(roots, [{ call: 'c1', why: 'first call', rewrite: null }]);
  });

  test('schema 2: a record for an unresolved call, or no failure row, is a deviation', () => {
    assert.deepEqual(deviations(2, ledger([record('c1'), record('edited')], [])), [
      'edited: 1 records and 0 rows unresolved_parent, 0 and 1 expected',
    ]);
    assert.deepEqual(deviations(2, ledger([record('c1'), record('edited', 'c1')], [['edited', 'unresolved_parent']])), [
      'edited: 1 records and 1 rows unresolved_parent, 0 and 1 expected',
    ]);
    assert.deepEqual(deviations(2, ledger([record('c1')], [])), [
      'edited: 0 records and 0 rows unresolved_parent, 0 and 1 expected',
    ]);
  });

  test('a failure row that nobody expects is a deviation, under either generation', () => {
    const rows = [
      ['edited', 'unresolved_parent'],
      ['c1', 'unresolved_parent'],
    ] as const;
    assert.deepEqual(deviations(2, ledger([record('c1')], rows)), ['failure of c1: unresolved_parent']);
    assert.deepEqual(deviations(3, ledger([record('c1'), record('edited')], [['edited', 'unresolved_parent']])), [
      'failure of edited: unresolved_parent',
    ]);
    assert.deepEqual(
      deviations(
        2,
        ledger(
          [record('c1')],
          [
            ['edited', 'unresolved_parent'],
            ['edited', 'worker_capture_failed'],
          ],
        ),
      ),
      ['failure of edited: worker_capture_failed'],
    );
  });

  test('schema 3: the rewrite is a root, and a parent is a deviation', () => {
    assert.deepEqual(deviations(3, ledger([record('c1'), record('edited')], [])), []);
    assert.deepEqual(
      deviations(3, ledger([record('c1'), record('edited', 'c1')], []))[0]?.slice(0, 38),
      'edited: parent c1, expected none; {"ca',
    );
  });

  test('a request that holds turns where the conversation begins anew, or none where it does not, is a deviation', () => {
    const found = ledger([record('c1')], [['edited', 'unresolved_parent']]);
    assert.deepEqual(deviations(2, found, [exchange('c1', true), exchange('edited', false)]), [
      'c1: the request holds a turn of the model',
      'edited: the request holds no turn of the model',
    ]);
  });
});
