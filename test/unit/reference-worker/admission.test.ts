import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_SOURCE_MATCH } from '../../../src/protocol/wire/admission.ts';
import { type AdmissionSpelling, readAdmission } from '../../../src/reference-worker/admission.ts';
import { evidenceOf, RENDER_DIGEST, summaryOf } from '../../support/capture-by-hand.ts';

const spelling: AdmissionSpelling = { ownerKey: 'auto', sourceMatch: DEFAULT_SOURCE_MATCH };
const items = evidenceOf([{ role: 'user', content: 'task' }]);
const hex = 'a'.repeat(64);

const root3 = {
  schema_version: 3,
  capture_key: 'attempt',
  model_call_id: 'c2',
  mode: 'candidate',
  parent_call_id: null,
  prev_len: 0,
  parent_chain_hash: null,
  staging_chain: [],
  required_prefix_token_ids: [],
  request_replay: { schema_version: 3, normalization_version: 1, items, render_digest: RENDER_DIGEST },
  candidate_replay: null,
  source_match: null,
};
const child = {
  parent_call_id: 'c1',
  prev_len: 3,
  parent_chain_hash: hex,
  staging_chain: ['attempt/c1'],
};
const child3 = { ...root3, ...child, candidate_replay: summaryOf(items), source_match: 'exact' };
const root2 = {
  schema_version: 2,
  rollout_id: 'attempt',
  model_call_id: 'c2',
  mode: 'text',
  parent_call_id: null,
  prev_len: 0,
  parent_chain_hash: null,
  staging_chain: [],
  required_prefix_token_ids: [],
};
const child2 = { ...root2, ...child, mode: 'token_in' };

function admission(value: unknown, spelled = spelling) {
  const outcome = readAdmission(value, spelled);
  assert.equal(outcome.kind, 'admission', JSON.stringify(outcome));
  return outcome.kind === 'admission' ? outcome.admission : assert.fail();
}

function refusal(value: unknown, spelled = spelling): string {
  const outcome = readAdmission(value, spelled);
  return outcome.kind === 'invalid' ? outcome.message : assert.fail('it was accepted');
}

describe('ng_capture', () => {
  test('schema 3, root and candidate', () => {
    assert.equal(admission(root3).parentCallId, null);
    assert.deepEqual(admission(child3), {
      schemaVersion: 3,
      ownerKey: 'capture_key',
      owner: 'attempt',
      modelCallId: 'c2',
      mode: 'candidate',
      parentCallId: 'c1',
      prevLen: 3,
      parentChainHash: hex,
      stagingChain: ['attempt/c1'],
      requestReplay: root3.request_replay,
      candidateReplay: child3.candidate_replay,
      sourceMatch: 'exact',
    });
  });

  test('schema 2, text and token_in', () => {
    assert.equal(admission(root2).mode, 'text');
    const read = admission(child2);
    assert.equal(read.mode, 'token_in');
    assert.equal(read.schemaVersion, 2);
    assert.equal(read.ownerKey, 'rollout_id');
  });

  test('missing evidence is no matter of shape: the decision says what is missing', () => {
    assert.equal(admission({ ...root3, request_replay: null }).requestReplay, null);
    assert.equal(admission({ ...child3, candidate_replay: null }).candidateReplay, null);
    assert.equal(admission({ ...child3, source_match: null }).sourceMatch, null);
    const { source_match: _, ...silent } = child3;
    assert.equal(admission(silent).sourceMatch, null);
  });

  test('the older owner key is taken where it is not told apart, and only then', () => {
    const { capture_key, ...rest } = root3;
    const older = { ...rest, rollout_id: capture_key };
    assert.equal(admission(older).ownerKey, 'rollout_id');
    assert.match(refusal(older, { ...spelling, ownerKey: 'capture_key' }), /rollout_id|capture_key/);
    assert.equal(admission(older, { ...spelling, ownerKey: 'rollout_id' }).owner, 'attempt');
  });

  test('the statement has the configured name and values', () => {
    const own = { name: 'match_kind', exact: 'same', emptyToolContent: 'same_but_empty' };
    const { source_match: _, ...rest } = child3;
    const spelled = { ...spelling, sourceMatch: own };
    assert.equal(admission({ ...rest, match_kind: 'same' }, spelled).sourceMatch, 'exact');
    assert.equal(admission({ ...rest, match_kind: 'same_but_empty' }, spelled).sourceMatch, 'empty_tool_content');
    assert.match(refusal({ ...rest, match_kind: 'exact' }, spelled), /match_kind/);
    assert.match(refusal(child3, spelled), /source_match/);
  });

  test('a worker that predates the statement refuses it and does without', () => {
    const { source_match: _, ...rest } = child3;
    const older = { ...spelling, sourceMatch: null };
    assert.equal(admission(rest, older).sourceMatch, 'not_spoken');
    assert.match(refusal(child3, older), /source_match/);
  });

  const { capture_key: _owner, ...ownerless } = root3;
  const malformed: [name: string, value: unknown, message: RegExp][] = [
    ['not an object', 'ng', /expected object/i],
    ['an unknown version', { ...root3, schema_version: 4 }, /schema_version/],
    ['an unknown field', { ...root3, extra: 1 }, /extra/],
    ['no owner', ownerless, /capture_key/],
    ['an empty id', { ...root3, model_call_id: '' }, /model_call_id/],
    ['a stored mode under schema 3', { ...root3, mode: 'text' }, /mode/],
    ['the proposing mode under schema 2', { ...root2, mode: 'candidate' }, /mode/],
    ['a length as text', { ...root3, prev_len: '0' }, /prev_len/],
    ['a negative length', { ...child3, prev_len: -3 }, /prev_len/],
    ['upper case digits in a hash', { ...child3, parent_chain_hash: 'A'.repeat(64) }, /parent_chain_hash/],
    ['prefix tokens', { ...child3, required_prefix_token_ids: [1] }, /required_prefix_token_ids/],
    ['evidence under schema 2', { ...root2, request_replay: null }, /request_replay/],
    [
      'an item without version',
      {
        ...root3,
        request_replay: {
          ...root3.request_replay,
          items: [{ role: 'user', digest: hex, empty_tool_content_digest: null }],
        },
      },
      /items/,
    ],
    ['a root with a length', { ...root3, prev_len: 3 }, /prev_len must be 0/],
    ['a root with a chain hash', { ...root3, parent_chain_hash: hex }, /parent_chain_hash must be null/],
    ['a root with a chain', { ...root3, staging_chain: ['attempt/c1'] }, /staging_chain must be empty/],
    [
      'a root with candidate evidence',
      { ...root3, candidate_replay: summaryOf(items) },
      /candidate_replay must be null/,
    ],
    ['a root with a statement', { ...root3, source_match: 'exact' }, /statement must be null/],
    ['a parent without length', { ...child3, prev_len: 0 }, /prev_len must be above 0/],
    ['a parent without chain hash', { ...child3, parent_chain_hash: null }, /parent_chain_hash must be set/],
    ['a parent without chain', { ...child3, staging_chain: [] }, /staging_chain must end/],
    ["a chain that does not end with the parent's key", { ...child3, staging_chain: ['attempt/c0'] }, /must end/],
    ['a key of another attempt', { ...child3, staging_chain: ['other/c0', 'attempt/c1'] }, /another attempt/],
    ['a key twice', { ...child3, staging_chain: ['attempt/c1', 'attempt/c1'] }, /twice/],
    ['a call as its own parent', { ...child3, parent_call_id: 'c2', staging_chain: ['attempt/c2'] }, /own parent/],
    ['text with a parent', { ...child2, mode: 'text' }, /text must not have a parent/],
    ['token_in without a parent', { ...root2, mode: 'token_in' }, /needs a parent/],
  ];
  for (const [name, value, message] of malformed) {
    test(`refused: ${name}`, () => assert.match(refusal(value), message));
  }
});
