import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { stagedRecord } from '../../../src/protocol/wire/ledger.ts';
import { buildStagedRecord } from '../../../src/reference-worker/build-staged-record.ts';

interface Row extends Record<string, unknown> {
  capture_key: string;
  model_call_id: string;
  parent_call_id: string | null;
  prev_len: number;
  weight_version: number;
  token_ids_delta: number[];
  token_mask_delta: number[];
  generation_log_probs_delta: number[];
  chain_hash: string;
  digest_schema_2: string;
  digest_schema_3: string;
}
const { worked_example } = JSON.parse(readFileSync(new URL('../../vectors/vectors.json', import.meta.url), 'utf8')) as {
  worked_example: { rows: Row[] };
};

/** All tokens of a call and of the calls before it. */
function tokensOf(row: Row): number[] {
  const parent = worked_example.rows.find((one) => one.model_call_id === row.parent_call_id);
  return [...(parent === undefined ? [] : tokensOf(parent)), ...row.token_ids_delta];
}

describe('staged records of the worked example', () => {
  for (const row of worked_example.rows) {
    for (const schemaVersion of [2, 3] as const) {
      test(`${row.model_call_id}, schema ${schemaVersion}`, () => {
        const parent = worked_example.rows.find((one) => one.model_call_id === row.parent_call_id);
        const record = buildStagedRecord({
          schemaVersion,
          owner: row.capture_key,
          modelCallId: row.model_call_id,
          parentCallId: row.parent_call_id,
          parentChainHash: parent?.chain_hash ?? null,
          prevLen: row.prev_len,
          weightVersion: row.weight_version,
          tokens: tokensOf(row),
          delta: row.token_ids_delta,
          masks: row.token_mask_delta,
          logprobs: row.generation_log_probs_delta,
          extras: null,
        });
        const { digest_schema_2, digest_schema_3, ...fields } = row;
        assert.deepEqual(record, {
          ...fields,
          schema_version: schemaVersion,
          digest_version: 2,
          extras_digest_version: 1,
          digest: schemaVersion === 2 ? digest_schema_2 : digest_schema_3,
        });
        assert.equal(stagedRecord.safeParse(record).success, true);
      });
    }
  }

  test('extras are digested', () => {
    const base = { schemaVersion: 3, owner: 'a', modelCallId: 'c', parentCallId: null, parentChainHash: null } as const;
    const lists = { tokens: [1], delta: [1], masks: [1], logprobs: [-1] };
    const record = buildStagedRecord({ ...base, ...lists, prevLen: 0, weightVersion: 0, extras: { é: 1, z: 2, a: 3 } });
    assert.equal(record.extras_digest, 'd28eacb8af6eea839038b5c31d63b63bd825272582a8ddb7a96743a2537a3d84');
  });
});
