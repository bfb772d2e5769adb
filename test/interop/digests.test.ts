import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { assistantFingerprint, conversationDigest } from '../../src/lineage/fingerprints.ts';
import { chainHash, cumulativeHash, extrasDigest, stagedCallDigest } from '../../src/lineage/staged-digests.ts';
import type { JsonNode } from '../../src/protocol/json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../../src/protocol/json/parse-json.ts';
import { itemsText } from './support/item-texts.ts';
import { anyJson, objectText, stringText } from './support/json-texts.ts';
import { type Peer, startPeer } from './support/peer.ts';
import { describeWith, pythonEnvironment } from './support/python-environment.ts';
import { samplesOf } from './support/samples.ts';
import { stagedCalls } from './support/staged-calls.ts';

/** Byte for byte what the published package computes, over random inputs: protocol sections 8, 10 and 13. */

const environment = await pythonEnvironment('peer');
const SAMPLES = 4000;

function node(text: string): JsonNode {
  const parsed = parseJsonText(text);
  assert.ok(!isJsonProblem(parsed), text);
  return parsed;
}
const items = (text: string) => node(text).elements() as JsonNode[];

interface Fingerprints {
  readonly assistant: string | null;
  readonly conversation: string | null;
}

describeWith(environment, 'the published functions', (python) => {
  let peer: Peer;
  before(async () => {
    peer = await startPeer(python);
  });
  after(() => peer.stop());

  test('fingerprints of random items', async () => {
    const { values, seed } = samplesOf(itemsText, SAMPLES);
    const theirs: Fingerprints[] = await peer.ask('fingerprints', { texts: values });
    const refused = theirs.filter(({ assistant }) => assistant === null).length;
    assert.ok(refused > SAMPLES / 100 && refused < SAMPLES / 2, `${refused} of ${SAMPLES} are unfingerprintable`);
    values.forEach((text, at) => {
      const { assistant, conversation } = theirs[at] as Fingerprints;
      // A record writes "no authored item" as null, too.
      assert.equal(assistantFingerprint(items(text)), assistant || null, `seed ${seed}: ${text}`);
      assert.equal(conversationDigest(items(text), 2), conversation, `seed ${seed}: ${text}`);
    });
  });

  test('version 3 of a conversation is version 2 without what system and developer items say', async () => {
    const { values, seed } = samplesOf(itemsText, SAMPLES / 4);
    const silent = values.map((text) => `[${items(text).map(withoutInstructions).join(',')}]`);
    const theirs: Fingerprints[] = await peer.ask('fingerprints', { texts: silent });
    assert.ok(silent.some((text, at) => text !== values[at]));
    values.forEach((text, at) => {
      assert.equal(conversationDigest(items(text), 3), theirs[at]?.conversation, `seed ${seed}: ${text}`);
    });
  });

  test('extras of random shape', async () => {
    const extras = fc.array(fc.tuple(stringText, anyJson), { maxLength: 4 }).map(objectText);
    const { values, seed } = samplesOf(extras, SAMPLES);
    const theirs: (string | null)[] = await peer.ask('extras', { texts: values });
    values.forEach((text, at) => {
      assert.equal(extrasDigest(node(text)), theirs[at], `seed ${seed}: ${text}`);
    });
  });

  test('hashes and digests of random staged calls', async () => {
    const { values, seed } = samplesOf(stagedCalls, SAMPLES / 4);
    const calls = values.map(({ call, parentChainHash, tokenIds }) => ({
      parent_chain_hash: parentChainHash,
      token_ids: tokenIds,
      fields: {
        schema_version: 2,
        digest_version: 2,
        extras_digest_version: 1,
        rollout_id: call.owner,
        model_call_id: call.modelCallId,
        parent_call_id: call.parentCallId,
        mode: call.mode,
        prev_len: call.prevLen,
        delta_len: call.deltaLen,
        cum_len: call.cumLen,
        weight_version: call.weightVersion,
        token_ids_delta: call.tokenIds,
        token_mask_delta: call.tokenMask,
        generation_log_probs_delta: call.logProbs.map(floatText),
        extras_digest: call.extrasDigest,
        chain_hash: call.chainHash,
        cumulative_hash: call.cumulativeHash,
      },
    }));
    const theirs: object[] = await peer.ask('tokens', { calls });
    values.forEach(({ call, parentChainHash, tokenIds }, at) => {
      const ours = {
        chain: chainHash(parentChainHash, call.tokenIds),
        cumulative: cumulativeHash(tokenIds),
        digest: stagedCallDigest({ ...call, schemaVersion: 2 }),
      };
      assert.deepEqual(ours, theirs[at], `seed ${seed}: ${JSON.stringify(call)}`);
    });
  });

  test('its conformance vectors', async () => {
    const golden = await peer.ask('golden', {});
    assert.equal(extrasDigest(node(JSON.stringify(golden.extras))), golden.extras_digest);
    const call = golden.staged_call;
    const ours = stagedCallDigest({
      schemaVersion: call.schema_version,
      owner: call.rollout_id,
      modelCallId: call.model_call_id,
      parentCallId: call.parent_call_id,
      mode: call.mode,
      prevLen: call.prev_len,
      deltaLen: call.delta_len,
      cumLen: call.cum_len,
      weightVersion: call.weight_version,
      tokenIds: call.token_ids_delta,
      tokenMask: call.token_mask_delta,
      logProbs: call.generation_log_probs_delta,
      extrasDigest: call.extras_digest,
      chainHash: call.chain_hash,
      cumulativeHash: call.cumulative_hash,
    });
    assert.equal(ours, golden.staged_call_digest);
  });

  test('the digest of a schema 3 call is another one', () => {
    const hash = createHash('sha256').update('any').digest('hex');
    const call = {
      owner: 'a',
      modelCallId: 'b',
      parentCallId: null,
      mode: 'text',
      prevLen: 0,
      deltaLen: 1,
      cumLen: 1,
      weightVersion: 0,
      tokenIds: [1],
      tokenMask: [1],
      logProbs: [-1],
      extrasDigest: hash,
      chainHash: hash,
      cumulativeHash: hash,
    };
    assert.notEqual(stagedCallDigest({ ...call, schemaVersion: 2 }), stagedCallDigest({ ...call, schemaVersion: 3 }));
  });
});

/** JSON writes a negative zero without its sign. */
const floatText = (value: number) => (Object.is(value, -0) ? '-0.0' : String(value));

/** An item of a role that version 3 does not look into, reduced to that role; others as they are. */
function withoutInstructions(item: JsonNode): string {
  const role = item.isObject() ? item.get('role')?.string() : undefined;
  return role === 'system' || role === 'developer' ? `{"role":"${role}"}` : item.rawText();
}
