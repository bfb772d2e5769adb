import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import {
  chainHash,
  cumulativeHash,
  extrasDigest,
  type StagedCall,
  stagedCallDigest,
} from '../../../src/lineage/staged-digests.ts';
import { json } from './support.ts';

const HEX = 'ab'.repeat(32);
const u64 = (...values: (number | bigint)[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [at, value] of values.entries()) bytes.writeBigUInt64BE(BigInt(value), 8 * at);
  return bytes;
};
const sha256 = (...parts: (Buffer | string)[]): string =>
  hash('sha256', Buffer.concat(parts.map((part) => Buffer.from(part))));

test('tokens of every size, from arrays and typed arrays', () => {
  const tokens = [0, 1, 255, 256, 65_535, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];
  const expected = sha256('nemo-gym-staging-prefix-v2', u64(tokens.length, ...tokens));
  assert.equal(cumulativeHash(tokens), expected);
  assert.equal(cumulativeHash(Float64Array.from(tokens)), expected);
  assert.equal(cumulativeHash([]), sha256('nemo-gym-staging-prefix-v2', u64(0)));
  const many = Uint32Array.from({ length: 150_000 }, (_, at) => at * 7);
  assert.equal(
    cumulativeHash(many),
    sha256('nemo-gym-staging-prefix-v2', Buffer.concat([many.length, ...many].map((token) => u64(token)))),
  );
});

test('chains of roots and of continuations', () => {
  assert.equal(chainHash(null, [5]), sha256('nemo-gym-staging-chain-v1', Buffer.from([0]), u64(1, 5)));
  assert.equal(
    chainHash(HEX, [5]),
    sha256('nemo-gym-staging-chain-v1', Buffer.from([1]), Buffer.from(HEX, 'hex'), u64(1, 5)),
  );
});

test('what is no token id or no digest throws', () => {
  for (const value of [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => cumulativeHash([1, value]), RangeError);
    assert.throws(() => chainHash(null, [value]), RangeError);
  }
  for (const parent of ['', HEX.toUpperCase(), HEX.slice(2), `${HEX}00`])
    assert.throws(() => chainHash(parent, [1]), RangeError);
});

const CALL: StagedCall = {
  schemaVersion: 3,
  owner: 'é',
  modelCallId: 'call',
  parentCallId: null,
  mode: 'text',
  prevLen: 0,
  deltaLen: 2,
  cumLen: 2,
  weightVersion: 2 ** 40,
  tokenIds: [1, 2],
  tokenMask: [0, 1],
  logProbs: [0, -0.1],
  extrasDigest: HEX,
  chainHash: HEX,
  cumulativeHash: HEX,
};

test('the digest of a staged call, written down once more', () => {
  const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
  const floats = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [at, value] of values.entries()) bytes.writeFloatBE(value, 4 * at);
    return Buffer.concat([u64(8 + bytes.length, values.length), bytes]);
  };
  const one = Buffer.from([1]);
  const digest = Buffer.from(HEX, 'hex');
  const expected = (parent: Buffer, mode: string, prev: number, cum: number) =>
    sha256(
      'nemo-gym-staging-call-v2',
      Buffer.from([3, 2, 1]),
      text('é'),
      text('call'),
      parent,
      text(mode),
      u64(prev, 2, cum, 2 ** 40),
      u64(24, 2, 1, 2),
      floats(0, 1),
      floats(0, -0.1),
      digest,
      one,
      digest,
      one,
      digest,
    );
  assert.equal(stagedCallDigest(CALL), expected(Buffer.from([0]), 'text', 0, 2));
  assert.equal(
    stagedCallDigest({ ...CALL, parentCallId: 'p', mode: 'token_in', prevLen: 3, cumLen: 5 }),
    expected(Buffer.concat([one, text('p')]), 'token_in', 3, 5),
  );
});

test('every field of a staged call counts', () => {
  const others: Partial<StagedCall>[] = [
    { schemaVersion: 2 },
    { owner: 'e' },
    { modelCallId: 'cal' },
    { parentCallId: '' },
    { mode: 'token_in' },
    { prevLen: 1 },
    { deltaLen: 1 },
    { cumLen: 1 },
    { weightVersion: 1 },
    { tokenIds: [1, 3] },
    { tokenMask: [1, 1] },
    { logProbs: [-0, -0.1] },
    { logProbs: [0, -0.1000001] },
    { extrasDigest: 'ac'.repeat(32) },
    { chainHash: 'ac'.repeat(32) },
    { cumulativeHash: 'ac'.repeat(32) },
  ];
  const digests = [CALL, ...others.map((other) => ({ ...CALL, ...other }))].map(stagedCallDigest);
  assert.equal(new Set(digests).size, others.length + 1);
});

test('floats beyond four bytes and odd lengths throw', () => {
  for (const value of [Number.NaN, Number.NEGATIVE_INFINITY, 1e39, 3.4028235677973366e38])
    assert.throws(() => stagedCallDigest({ ...CALL, logProbs: [0, value] }), RangeError);
  assert.throws(() => stagedCallDigest({ ...CALL, prevLen: -1 }), RangeError);
  assert.throws(() => stagedCallDigest({ ...CALL, chainHash: 'x' }), RangeError);
});

test('extras: values that have no digest, and the order of keys', () => {
  const digest = (text: string) => extrasDigest(json(text, { allowNonFinite: true }));
  for (const text of [
    '9223372036854775808',
    '-9223372036854775809',
    '123456789012345678901234567890',
    '"\\ud800"',
    '{"\\ud800":1}',
    '[1e400]',
    '{"a":NaN}',
  ])
    assert.equal(digest(text), null, text);
  assert.equal(extrasDigest(null), digest('null'));
  assert.equal(digest('{"\\ud83d\\ude00":1,"\\uffff":2,"a":3}'), digest('{"a":3,"\\uffff":2,"\\ud83d\\ude00":1}'));
  assert.equal(digest('{"a":1,"a":2}'), digest('{"a":2}'));
  const all = [
    'null',
    'true',
    'false',
    '0',
    '-1',
    '0.0',
    '-0.0',
    '""',
    '"a"',
    '[]',
    '[0]',
    '{}',
    '{"a":0}',
    '{"a":[]}',
    '-9223372036854775808',
    '9223372036854775807',
  ];
  assert.equal(new Set(all.map(digest)).size, all.length);
  assert.ok(!all.map(digest).includes(null));
});
