import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ReasonCode } from '../../src/trainer/index.ts';
import { randomRollout } from '../support/random-worlds.ts';
import { buildWorld, codes, resultOf, runWorld } from '../support/trainer-world.ts';

/**
 * One flipped bit anywhere in what digests, hashes and lengths cover must mask the rollout, and for the right reason. Every field that they cover
 * stands here with the reasons that a flip in it may give; docs/trainer.md has the same list.
 */

/** Fields of a staged record. A flip may also leave something that is no staged record at all. */
const STAGED: Readonly<Record<string, readonly ReasonCode[]>> = {
  schema_version: ['version_mismatch'],
  digest_version: ['version_mismatch'],
  extras_digest_version: ['version_mismatch'],
  capture_key: ['foreign_owner'],
  model_call_id: ['call_id_mismatch'],
  parent_call_id: ['parent_mismatch'],
  mode: ['mode_mismatch'],
  prev_len: ['length_mismatch'],
  delta_len: ['length_mismatch'],
  cum_len: ['length_mismatch'],
  weight_version: ['weight_version_mismatch'],
  token_ids_delta: ['digest_mismatch'],
  token_mask_delta: ['mask_invalid', 'digest_mismatch'],
  generation_log_probs_delta: ['digest_mismatch'],
  extras: ['extras_digest_mismatch'],
  extras_digest: ['extras_digest_mismatch'],
  chain_hash: ['chain_hash_mismatch'],
  cumulative_hash: ['cumulative_hash_mismatch'],
  digest: ['digest_mismatch'],
  staging_key: ['staging_key_mismatch'],
};

/** Fields of a selected call's record. A flip may also leave something that is no ledger. */
const RECORD: Readonly<Record<string, readonly ReasonCode[]>> = {
  schema_version: [],
  digest_version: [],
  extras_digest_version: [],
  model_call_id: ['staging_key_mismatch'],
  parent_call_id: ['parent_mismatch', 'selection_not_closed', 'not_contiguous'],
  mode: ['mode_mismatch'],
  prev_len: ['length_mismatch'],
  delta_len: ['length_mismatch'],
  cum_len: ['length_mismatch'],
  weight_version: ['weight_version_mismatch'],
  extras_digest: ['extras_digest_mismatch'],
  chain_hash: ['chain_hash_mismatch'],
  cumulative_hash: ['cumulative_hash_mismatch'],
  digest: ['digest_mismatch'],
  staging_key: ['staging_key_mismatch', 'foreign_owner'],
};

type Json = { [name: string]: unknown };

/** The value with one bit flipped: of an integer, a 4-byte float, or a character; of a list in one of its elements. Undefined: it has none. */
function flip(value: unknown, at: number, bit: number, asFloat: boolean): unknown {
  if (typeof value === 'number' && asFloat) {
    const view = new DataView(new ArrayBuffer(4));
    view.setFloat32(0, value);
    view.setUint32(0, (view.getUint32(0) ^ (1 << (bit % 32))) >>> 0);
    return view.getFloat32(0);
  }
  if (typeof value === 'number') return Number(BigInt(value) ^ (1n << BigInt(bit % 53)));
  if (typeof value === 'string' && value.length > 0) {
    const place = at % value.length;
    return (
      value.slice(0, place) + String.fromCharCode(value.charCodeAt(place) ^ (1 << (bit % 7))) + value.slice(place + 1)
    );
  }
  if (Array.isArray(value) && value.length > 0) {
    const place = at % value.length;
    return value.with(place, flip(value[place], at, bit, asFloat));
  }
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    const entries = Object.entries(value);
    const [name, member] = entries[at % entries.length] as [string, unknown];
    return { ...value, [name]: flip(member, at, bit, name === 'f') };
  }
  return undefined;
}

const FLOATS = new Set(['token_mask_delta', 'generation_log_probs_delta']);
const draw = { rollout: randomRollout, pick: fc.nat(), at: fc.nat(), bit: fc.nat(1000) };

for (const [field, reasons] of Object.entries(STAGED)) {
  test(`a flipped bit in ${field} of a staged record: ${reasons.join(' or ')}`, async () => {
    await fc.assert(
      fc.asyncProperty(draw.rollout, draw.pick, draw.at, draw.bit, async (rollout, pick, at, bit) => {
        const world = buildWorld(rollout.calls);
        const callId = rollout.accepted[pick % rollout.accepted.length] as string;
        const staged = world.staged.get(`group_g0/${callId}`) as Json;
        const flipped = flip(staged[field], at, bit, FLOATS.has(field));
        // JSON of JavaScript has no -0: the flip of a zero's sign would not reach the kit.
        fc.pre(flipped !== undefined && JSON.stringify(flipped) !== JSON.stringify(staged[field]));
        staged[field] = flipped;
        const found = codes(await runWorld(world, { result: resultOf(world, rollout.accepted) }));
        assert.ok(
          [...reasons, 'staged_malformed'].some((code) => found.includes(code)),
          `${found.join() || 'rows'} for ${callId}`,
        );
      }),
      { numRuns: 60 },
    );
  });
}

test('a flipped bit in a key of TransferQueue: nothing is found under it', async () => {
  await fc.assert(
    fc.asyncProperty(draw.rollout, draw.pick, draw.at, draw.bit, async (rollout, pick, at, bit) => {
      const world = buildWorld(rollout.calls);
      const key = `group_g0/${rollout.accepted[pick % rollout.accepted.length]}`;
      const staged = world.staged.get(key) as Json;
      const flipped = flip(key, at, bit, false) as string;
      fc.pre(!world.staged.has(flipped));
      world.staged.delete(key);
      world.staged.set(flipped, staged);
      assert.deepEqual(codes(await runWorld(world, { result: resultOf(world, rollout.accepted) })), ['staged_missing']);
    }),
    { numRuns: 60 },
  );
});

for (const [field, reasons] of Object.entries(RECORD)) {
  test(`a flipped bit in ${field} of a ledger record: ${reasons.join(' or ') || 'ledger_malformed'}`, async () => {
    await fc.assert(
      fc.asyncProperty(draw.rollout, draw.pick, draw.at, draw.bit, async (rollout, pick, at, bit) => {
        const world = buildWorld(rollout.calls);
        const result = resultOf(world, rollout.accepted);
        const callId = rollout.accepted[pick % rollout.accepted.length];
        const record = world.ledger.manifest.records.find((one) => one.model_call_id === callId) as Json;
        const flipped = flip(record[field], at, bit, false);
        fc.pre(flipped !== undefined);
        record[field] = flipped;
        const found = codes(await runWorld(world, { result }));
        assert.ok(
          [...reasons, 'ledger_malformed'].some((code) => found.includes(code)),
          `${found.join() || 'rows'} for ${callId}`,
        );
      }),
      { numRuns: 60 },
    );
  });
}

for (const where of ['attempt', 'capture_key'] as const) {
  test(`a flipped bit in the ledger's ${where}: foreign_owner`, async () => {
    await fc.assert(
      fc.asyncProperty(draw.rollout, draw.at, draw.bit, async (rollout, at, bit) => {
        const world = buildWorld(rollout.calls);
        const place: Json = where === 'attempt' ? world.ledger : world.ledger.manifest;
        place[where] = flip(place[where], at, bit, false);
        assert.deepEqual(codes(await runWorld(world, { result: resultOf(world, rollout.accepted) })), [
          'foreign_owner',
        ]);
      }),
      { numRuns: 30 },
    );
  });
}

test('a flipped bit in an output item that the returned history needs: it is not matched', async () => {
  await fc.assert(
    fc.asyncProperty(draw.rollout, draw.pick, draw.at, draw.bit, async (rollout, pick, at, bit) => {
      const world = buildWorld(rollout.calls);
      const callId = rollout.accepted[pick % rollout.accepted.length];
      const record = world.ledger.manifest.records.find((one) => one.model_call_id === callId);
      const rows = record?.output_items as { fingerprint: string }[];
      const row = rows[at % rows.length] as { fingerprint: string };
      row.fingerprint = flip(row.fingerprint, at, bit, false) as string;
      const found = codes(await runWorld(world, { result: resultOf(world, rollout.accepted) }));
      assert.ok(
        ['item_contradicts_id', 'ledger_malformed'].some((code) => found.includes(code)),
        found.join() || 'rows',
      );
    }),
    { numRuns: 60 },
  );
});
