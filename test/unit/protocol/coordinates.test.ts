import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { coordinatesReader } from '../../../src/protocol/wire/coordinates.ts';

const hex = (letter: string) => letter.repeat(64);
const STAGED = {
  schema_version: 3,
  capture_key: 'a',
  digest_version: 2,
  extras_digest_version: 1,
  model_call_id: 'c2',
  parent_call_id: 'c1',
  prev_len: 5,
  delta_len: 3,
  cum_len: 8,
  weight_version: 0,
  disposition: 'staged',
  digest: hex('1'),
  extras_digest: hex('2'),
  chain_hash: hex('3'),
  cumulative_hash: hex('4'),
  staging_key: 'a/c2',
};
const FAILED = {
  ...STAGED,
  delta_len: 0,
  cum_len: 5,
  disposition: 'capture_failed',
  digest: null,
  extras_digest: null,
  chain_hash: null,
  cumulative_hash: null,
  staging_key: null,
};
const read = coordinatesReader(3, 'capture_key');
const problemOf = (value: unknown) => {
  const result = read(value);
  return 'problem' in result ? result.problem : null;
};

describe('coordinates of the wire form', () => {
  test('staged: all of them but the versions, the owner under one name', () => {
    assert.deepEqual(read(STAGED), {
      disposition: 'staged',
      owner: 'a',
      model_call_id: 'c2',
      parent_call_id: 'c1',
      prev_len: 5,
      delta_len: 3,
      cum_len: 8,
      weight_version: 0,
      digest: hex('1'),
      extras_digest: hex('2'),
      chain_hash: hex('3'),
      cumulative_hash: hex('4'),
      staging_key: 'a/c2',
    });
  });

  test('capture_failed: nothing of what was not stored', () => {
    assert.deepEqual(read(FAILED), {
      disposition: 'capture_failed',
      owner: 'a',
      model_call_id: 'c2',
      parent_call_id: 'c1',
      prev_len: 5,
      delta_len: 0,
      cum_len: 5,
      weight_version: 0,
    });
  });

  test('a root, the largest numbers, members in any order', () => {
    const largest = Number.MAX_SAFE_INTEGER;
    const root = { ...STAGED, parent_call_id: null, prev_len: 0, delta_len: largest, cum_len: largest };
    assert.equal(problemOf(Object.fromEntries(Object.entries(root).reverse())), null);
  });

  test('the other generation, with its owner key', () => {
    const { capture_key, ...rest } = { ...STAGED, schema_version: 2 };
    const second = coordinatesReader(2, 'rollout_id');
    assert.equal('problem' in second({ ...rest, rollout_id: 'a' }), false);
    assert.deepEqual(second({ ...rest, capture_key }), {
      problem: 'rollout_id: expected a string that is not empty',
    });
  });
});

describe('what is no wire form is named', () => {
  const ID = 'expected a string that is not empty';
  const UNSIGNED = 'expected an integer from 0 to below 2^53';
  const HEX = 'expected 64 lowercase hex digits';
  const cases: [name: keyof typeof STAGED, values: unknown[], expected: string][] = [
    ['schema_version', [2, '3', null, undefined], 'expected 3'],
    ['capture_key', ['', 1, null, undefined], ID],
    ['digest_version', [1, '2', null, undefined], 'expected 2'],
    ['extras_digest_version', [2, true, undefined], 'expected 1'],
    ['model_call_id', ['', 7, null, undefined], ID],
    ['parent_call_id', ['', 7, false, undefined], 'expected null or a string that is not empty'],
    ['prev_len', [-1, 0.5, '5', null, Number.NaN, 2 ** 53, undefined], UNSIGNED],
    ['delta_len', [0, -1, 0.5, '3', null, 2 ** 53, undefined], 'expected an integer from 1 to below 2^53'],
    ['cum_len', [-1, 0.5, '8', null, Number.POSITIVE_INFINITY, undefined], UNSIGNED],
    ['weight_version', [-1, 1.5, '0', null, true, [0], undefined], UNSIGNED],
    ['digest', [hex('A'), '1'.repeat(63), `${hex('1')}\n`, 1, null, undefined], HEX],
    ['extras_digest', [hex('g'), null, undefined], HEX],
    ['chain_hash', ['', null, undefined], HEX],
    ['cumulative_hash', [[hex('1')], null, undefined], HEX],
    ['staging_key', ['', 1, null, undefined], ID],
  ];
  for (const [name, values, expected] of cases) {
    test(`${name} of a staged call`, () => {
      for (const value of values) assert.equal(problemOf({ ...STAGED, [name]: value }), `${name}: ${expected}`);
    });
  }

  test('a failed capture with anything that was stored', () => {
    for (const name of ['digest', 'extras_digest', 'chain_hash', 'cumulative_hash', 'staging_key'] as const)
      assert.equal(problemOf({ ...FAILED, [name]: STAGED[name] }), `${name}: expected null`);
    assert.equal(problemOf({ ...FAILED, delta_len: 1 }), 'delta_len: expected 0');
  });

  test('no disposition, or another one', () => {
    for (const disposition of [undefined, null, 'stored', 1])
      assert.equal(problemOf({ ...STAGED, disposition }), 'disposition: expected staged or capture_failed');
  });

  test('a member that nobody knows', () => {
    assert.equal(problemOf({ ...STAGED, tokens: [1] }), 'tokens: unknown member');
    assert.equal(
      problemOf(JSON.parse(JSON.stringify(STAGED).replace('{', '{"__proto__":{},'))),
      '__proto__: unknown member',
    );
    assert.equal(problemOf({ ...STAGED, rollout_id: 'a' }), 'rollout_id: unknown member');
  });

  test('no object', () => {
    for (const value of [null, 1, Number.NaN, 'staged', [], [STAGED], true])
      assert.equal(problemOf(value), 'expected an object');
  });
});
