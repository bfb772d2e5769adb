import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RolloutOutcome } from '../../../src/trainer/index.ts';
import { buildWorld, codes, resultOf, runWorld, type World } from '../../support/trainer-world.ts';

type Fields = { [name: string]: unknown };

/** A root, its continuation and another root; call b is the one that is tampered with. */
function world(extras: unknown = null): World {
  return buildWorld([
    { id: 'a', prompt: [1, 2], generated: [3] },
    { id: 'b', parent: 'a', prompt: [4, 5], generated: [6, 7], ...(extras === null ? {} : { extras }) },
    { id: 'c', prompt: [8], generated: [9] },
  ]);
}

const recordOf = (made: World, callId: string) =>
  made.ledger.manifest.records.find((record) => record.model_call_id === callId) as never as Fields;
const stagedOf = (made: World, callId: string) => made.staged.get(`group_g0/${callId}`) as Fields;

async function tamper(
  change: (record: Fields, staged: Fields, made: World) => void,
  extras?: unknown,
): Promise<RolloutOutcome> {
  const made = world(extras);
  const result = resultOf(made, ['a', 'b', 'c']);
  change(recordOf(made, 'b'), stagedOf(made, 'b'), made);
  return runWorld(made, { result });
}

function blames(outcome: RolloutOutcome): [code: string, callId: string | undefined][] {
  return outcome.kind === 'masked' ? outcome.reasons.map(({ code, callId }) => [code, callId]) : [];
}

const other = (hex: unknown) => String(hex).replace(/^./, (digit) => (digit === '0' ? '1' : '0'));

describe('a staged record that is not there, or is none', () => {
  test('missing', async () => {
    assert.deepEqual(blames(await tamper((_, __, made) => made.staged.delete('group_g0/b'))), [
      ['staged_missing', 'b'],
    ]);
  });

  test('each field is needed and has its type', async () => {
    const fields = Object.keys(stagedOf(world(), 'b'));
    const optional = new Set(['extras', 'schema_version', 'digest_version', 'extras_digest_version']);
    for (const name of fields) {
      const without = await tamper((_, staged) => delete staged[name]);
      assert.deepEqual(codes(without), optional.has(name) ? [] : ['staged_malformed'], `without ${name}`);
      if (name === 'extras') continue;
      const wrong = await tamper((_, staged) => Object.assign(staged, { [name]: true }));
      assert.deepEqual(codes(wrong), ['staged_malformed'], `${name} true`);
    }
  });

  test('numbers that the digests cannot hold', async () => {
    const lists: [name: string, value: unknown][] = [
      ['token_ids_delta', -1],
      ['token_ids_delta', 1.5],
      ['token_ids_delta', 2 ** 53],
      ['token_mask_delta', null],
      ['generation_log_probs_delta', 1e39],
    ];
    for (const [name, value] of lists) {
      const outcome = await tamper((_, staged) => Object.assign(staged, { [name]: [4, 5, 6, value] }));
      assert.deepEqual(codes(outcome), ['staged_malformed'], name);
    }
  });
});

describe('one change in a field that ledger and staged record share', () => {
  const cases: [field: string, change: (value: unknown) => unknown, code: string][] = [
    ['parent_call_id', () => 'c', 'parent_mismatch'],
    ['parent_call_id', () => null, 'parent_mismatch'],
    ['mode', () => 'text', 'mode_mismatch'],
    ['prev_len', (value) => Number(value) + 1, 'length_mismatch'],
    ['delta_len', (value) => Number(value) + 1, 'length_mismatch'],
    ['cum_len', (value) => Number(value) + 1, 'length_mismatch'],
    ['weight_version', (value) => Number(value) ^ 1, 'weight_version_mismatch'],
    ['extras_digest', other, 'extras_digest_mismatch'],
    ['chain_hash', other, 'chain_hash_mismatch'],
    ['cumulative_hash', other, 'cumulative_hash_mismatch'],
    ['digest', other, 'digest_mismatch'],
    ['staging_key', () => 'group_g0/c', 'staging_key_mismatch'],
    ['model_call_id', () => 'x', 'call_id_mismatch'],
    ['schema_version', () => 2, 'version_mismatch'],
    ['digest_version', () => 3, 'version_mismatch'],
    ['extras_digest_version', () => 2, 'version_mismatch'],
  ];
  for (const [field, change, code] of cases) {
    test(`staged ${field}: ${code}`, async () => {
      const outcome = await tamper((_, staged) => Object.assign(staged, { [field]: change(staged[field]) }));
      assert.ok(codes(outcome).includes(code), JSON.stringify(codes(outcome)));
      assert.ok(blames(outcome).every(([, callId]) => callId === 'b'));
    });
  }

  test('the owner of the staged record, under both spellings', async () => {
    for (const name of ['capture_key', 'rollout_id']) {
      const outcome = await tamper((_, staged) => Object.assign(staged, { [name]: 'group_g1' }));
      assert.ok(codes(outcome).includes('foreign_owner'));
    }
  });

  const inLedger: [field: string, change: (value: unknown) => unknown, code: string][] = [
    ['parent_call_id', () => 'c', 'not_contiguous'],
    ['parent_call_id', () => 'nobody', 'selection_not_closed'],
    ['parent_call_id', () => null, 'mode_mismatch'],
    ['mode', () => 'text', 'mode_mismatch'],
    ['prev_len', (value) => Number(value) + 1, 'not_contiguous'],
    ['delta_len', (value) => Number(value) + 1, 'length_mismatch'],
    ['cum_len', (value) => Number(value) + 1, 'length_mismatch'],
    ['weight_version', (value) => Number(value) ^ 1, 'weight_version_mismatch'],
    ['extras_digest', other, 'extras_digest_mismatch'],
    ['chain_hash', other, 'chain_hash_mismatch'],
    ['cumulative_hash', other, 'cumulative_hash_mismatch'],
    ['digest', other, 'digest_mismatch'],
    ['staging_key', () => 'group_g0/c', 'staging_key_mismatch'],
    ['model_call_id', () => 'x', 'staging_key_mismatch'],
    ['schema_version', () => 2, 'ledger_malformed'],
  ];
  for (const [field, change, code] of inLedger) {
    test(`ledger ${field}: ${code}`, async () => {
      const outcome = await tamper((record) => Object.assign(record, { [field]: change(record[field]) }));
      assert.ok(codes(outcome).includes(code), JSON.stringify(codes(outcome)));
    });
  }

  test('the hash of a parent that is not selected itself, but whose twin is', async () => {
    const made = buildWorld([
      { id: 'p', prompt: [1], generated: [2] },
      { id: 'twin', prompt: [1], generated: [2] },
      { id: 'child', parent: 'p', prompt: [3], generated: [4] },
    ]);
    const result = { response: { id: 'h', output: [...made.items('twin'), ...made.items('child')] }, reward: 1 };
    assert.deepEqual(codes(await runWorld(made, { result })), []);
    recordOf(made, 'p').chain_hash = other(recordOf(made, 'p').chain_hash);
    assert.deepEqual(blames(await runWorld(made, { result })), [['chain_hash_mismatch', 'child']]);
  });
});

describe('the content of a staged record', () => {
  test('one other token: all three hashes differ', async () => {
    const outcome = await tamper((_, staged) => Object.assign(staged, { token_ids_delta: [4, 5, 6, 6] }));
    assert.deepEqual(codes(outcome), ['chain_hash_mismatch', 'cumulative_hash_mismatch', 'digest_mismatch']);
  });

  test('one other log probability', async () => {
    const outcome = await tamper((_, staged) =>
      Object.assign(staged, { generation_log_probs_delta: [0, 0, -0.25, -0.26] }),
    );
    assert.deepEqual(codes(outcome), ['digest_mismatch']);
  });

  test('the mask must be zeros, then at least one one', async () => {
    for (const mask of [
      [0, 1, 0, 1],
      [0, 0, 0, 0],
      [0, 0, 1, 0.5],
      [1, 0, 1, 1],
      [0, 0, 2, 1],
    ]) {
      const outcome = await tamper((_, staged) => Object.assign(staged, { token_mask_delta: mask }));
      assert.deepEqual(codes(outcome), ['mask_invalid', 'digest_mismatch'], JSON.stringify(mask));
    }
    const moved = await tamper((_, staged) => Object.assign(staged, { token_mask_delta: [0, 1, 1, 1] }));
    assert.deepEqual(codes(moved), ['digest_mismatch']);
  });

  test('lists of other lengths than delta_len', async () => {
    for (const name of ['token_ids_delta', 'token_mask_delta', 'generation_log_probs_delta']) {
      const outcome = await tamper((_, staged) =>
        Object.assign(staged, { [name]: (staged[name] as number[]).slice(1) }),
      );
      assert.ok(codes(outcome).includes('length_mismatch'), name);
      assert.ok(codes(outcome).includes('digest_mismatch'), name);
    }
  });

  test('what hangs on a call that failed is not blamed again', async () => {
    const made = world();
    Object.assign(stagedOf(made, 'a'), { token_ids_delta: [1, 2, 4] });
    assert.deepEqual([...new Set(blames(await runWorld(made)).map(([, callId]) => callId))], ['a']);
  });

  test('two bad calls in two rows are both named', async () => {
    const made = world();
    made.staged.delete('group_g0/b');
    made.staged.delete('group_g0/c');
    assert.deepEqual(blames(await runWorld(made)), [
      ['staged_missing', 'b'],
      ['staged_missing', 'c'],
    ]);
  });
});

describe('extras', () => {
  test('are committed to: another value, a member more, a spelling that is another type', async () => {
    const extras = { routed_experts: [[1, 2]], scale: 1.5, note: null };
    assert.deepEqual(codes(await tamper(() => {}, extras)), []);
    for (const changed of [
      { ...extras, scale: 1.25 },
      { ...extras, more: 0 },
      { ...extras, routed_experts: [[2, 1]] },
      null,
      {},
    ]) {
      const outcome = await tamper((_, staged) => Object.assign(staged, { extras: changed }), extras);
      assert.deepEqual(codes(outcome), ['extras_digest_mismatch'], JSON.stringify(changed));
    }
  });

  test('members named like the token lists are part of them', async () => {
    const extras = { token_ids_delta: [1], extras: { deep: true } };
    assert.deepEqual(codes(await tamper(() => {}, extras)), []);
    const outcome = await tamper(
      (_, staged) => Object.assign(staged, { extras: { ...extras, token_ids_delta: [2] } }),
      extras,
    );
    assert.deepEqual(codes(outcome), ['extras_digest_mismatch']);
  });

  const image = { modality: 'image', start: 0, length: 1, height: 2, width: 3 };
  const video = { modality: 'video', start: 1, length: 1, height: 2, width: 3, frames: 4 };
  const good: unknown[][] = [
    [],
    [image],
    [video],
    [image, video],
    [{ ...image, length: 2 }],
    [{ ...image, frames: null }],
  ];
  const bad: [spans: unknown, why: RegExp][] = [
    [{}, /media_spans is no list/],
    [[7], /media_spans\[0\] is no object/],
    [[{ ...image, modality: 'audio' }], /modality other than image and video/],
    [[{ ...image, start: -1 }], /has no start/],
    [[{ ...image, start: 0.5 }], /has no start/],
    [[{ ...image, length: 0 }], /has no positive length/],
    [[{ ...image, height: 0 }], /has no positive height/],
    [[{ ...image, width: '3' }], /has no positive width/],
    [[{ ...image, frames: 1 }], /is an image and has frames/],
    [[{ ...video, frames: undefined }], /is a video and has no positive frames/],
    [[{ ...image, extra: 1 }], /has an unknown member extra/],
    [[{ ...image, length: 3 }], /media_spans\[0\] ends at 3, behind the 2 new prompt tokens/],
    [[{ ...image, start: 2 }], /ends at 3, behind the 2/],
    [[video, image], /media_spans\[1\] begins at 0, before the one before it ends \(2\)/],
    [[{ ...image, length: 2 }, video], /media_spans\[1\] begins at 1, before the one before it ends \(2\)/],
  ];
  for (const spans of good) {
    test(`media_spans ${JSON.stringify(spans)} are fine`, async () => {
      assert.deepEqual(codes(await tamper(() => {}, { media_spans: spans })), []);
    });
  }
  for (const [spans, why] of bad) {
    test(`media_spans ${JSON.stringify(spans)} are not`, async () => {
      const outcome = await tamper(() => {}, { media_spans: spans });
      assert.deepEqual(codes(outcome), ['media_span_invalid']);
      assert.match(outcome.kind === 'masked' ? (outcome.reasons[0]?.message ?? '') : '', why);
    });
  }
});
