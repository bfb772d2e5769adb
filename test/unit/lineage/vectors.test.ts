import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalFingerprint, canonicalReplay } from '../../../src/lineage/canonical-json.ts';
import { replayDigest } from '../../../src/lineage/digest.ts';
import { assistantFingerprint, conversationDigest, fingerprintAssistant } from '../../../src/lineage/fingerprints.ts';
import { outputItemFingerprint } from '../../../src/lineage/output-items.ts';
import { PrefixSummarizer, prefixSummary } from '../../../src/lineage/prefix-summary.ts';
import { renderDigest } from '../../../src/lineage/render-digest.ts';
import { chainHash, cumulativeHash, extrasDigest, stagedCallDigest } from '../../../src/lineage/staged-digests.ts';
import type { EvidenceItem } from '../../../src/lineage/types.ts';
import type { JsonNode } from '../../../src/protocol/json/json-node.ts';
import { digestOfFields, json, member, stringOf, vectors } from './support.ts';

const rows = (section: string): readonly JsonNode[] => vectors(section, 'rows').elements();

test('canonical JSON of sections 3 and 8', () => {
  for (const row of rows('canonical_json')) {
    const text = stringOf(row, 'json_text') as string;
    const node = json(text, { allowNonFinite: true });
    const replay = canonicalReplay(node);
    assert.equal(replay, stringOf(row, 'replay'), text);
    assert.equal(replay === null ? null : replayDigest(replay), stringOf(row, 'replay_digest'), text);
    assert.equal(canonicalFingerprint(node), stringOf(row, 'fingerprint'), text);
  }
});

test('tool arguments of section 8', () => {
  for (const row of rows('tool_arguments')) {
    const expected = stringOf(row, 'fingerprint_arguments');
    const given = json(`{"type":"function_call","arguments":${member(row, 'arguments').rawText()}}`);
    if (expected === null) {
      assert.equal(fingerprintAssistant([given]).kind, 'unfingerprintable', given.rawText());
      continue;
    }
    assert.equal(
      assistantFingerprint([given]),
      digestOfFields('nemo-gym-lineage', [
        [2, ''],
        [3, ''],
        [4, expected],
      ]),
      given.rawText(),
    );
  }
});

test('reasoning items', () => {
  for (const row of rows('reasoning_items')) {
    assert.equal(replayDigest(stringOf(row, 'normalized') as string), stringOf(row, 'digest'));
    assert.equal(outputItemFingerprint(member(row, 'item')), stringOf(row, 'digest'));
  }
});

test('prefix summaries', () => {
  const items = vectors('prefix_summaries', 'items')
    .elements()
    .map((item) => ({
      role: stringOf(item, 'role') as EvidenceItem['role'],
      digest: stringOf(item, 'digest') as string,
      emptyToolContentDigest: stringOf(item, 'empty_tool_content_digest'),
      reasoningDigest: null,
    }));
  const expected = rows('prefix_summaries').map((row) => ({
    itemCount: member(row, 'item_count').number() as number,
    sourceDigest: stringOf(row, 'source_digest') as string,
    emptyToolContentDigest: stringOf(row, 'empty_tool_content_digest') as string,
  }));
  const running = new PrefixSummarizer();
  const onePass = [running.summary()];
  for (const item of items) {
    running.push(item);
    onePass.push(running.summary());
  }
  assert.deepEqual(onePass, expected);
  assert.deepEqual(
    expected.map(({ itemCount }) => prefixSummary(items.slice(0, itemCount))),
    expected,
  );
});

test('render digests', () => {
  for (const row of rows('render_digests')) {
    const body = member(row, 'body');
    const fields = new Map([...body.members()].map(([key, value]) => [key, value.raw()]));
    assert.deepEqual(renderDigest(fields), { digest: stringOf(row, 'render_digest') });
    assert.equal(replayDigest(stringOf(row, 'canonical') as string), stringOf(row, 'render_digest'));
  }
});

test('fingerprints', () => {
  for (const row of rows('fingerprints')) {
    const name = stringOf(row, 'name') as string;
    const items = member(row, 'items').elements();
    const expected = stringOf(row, 'assistant_fingerprint');
    const found = fingerprintAssistant(items);
    switch (found.kind) {
      case 'digest':
        assert.equal(found.hex, expected, name);
        break;
      case 'empty':
        assert.equal(expected, null, name);
        break;
      case 'unfingerprintable':
        assert.equal(expected, 'error', name);
        break;
    }
    assert.equal(assistantFingerprint(items), expected === 'error' ? null : expected, name);
    for (const version of [2, 3] as const) {
      const digest = stringOf(row, `conversation_digest_v${version}`);
      assert.equal(conversationDigest(items, version), digest === 'error' ? null : digest, `${name} v${version}`);
    }
  }
});

test('extras digests', () => {
  for (const row of rows('extras_digests')) {
    const text = stringOf(row, 'extras_text') as string;
    assert.equal(extrasDigest(json(text)), stringOf(row, 'extras_digest'), text);
  }
});

const numbers = (node: JsonNode, key: string): number[] =>
  member(node, key)
    .elements()
    .map((element) => element.number() as number);
const number = (node: JsonNode, key: string): number => member(node, key).number() as number;

function digestOf(row: JsonNode, ownerKey: string, schemaVersion: 2 | 3): string {
  return stagedCallDigest({
    schemaVersion,
    owner: stringOf(row, ownerKey) as string,
    modelCallId: stringOf(row, 'model_call_id') as string,
    parentCallId: stringOf(row, 'parent_call_id'),
    mode: stringOf(row, 'mode') as string,
    prevLen: number(row, 'prev_len'),
    deltaLen: number(row, 'delta_len'),
    cumLen: number(row, 'cum_len'),
    weightVersion: number(row, 'weight_version'),
    tokenIds: numbers(row, 'token_ids_delta'),
    tokenMask: numbers(row, 'token_mask_delta'),
    logProbs: numbers(row, 'generation_log_probs_delta'),
    extrasDigest: stringOf(row, 'extras_digest') as string,
    chainHash: stringOf(row, 'chain_hash') as string,
    cumulativeHash: stringOf(row, 'cumulative_hash') as string,
  });
}

test('staged calls of the worked example, and the published one', () => {
  const calls = rows('worked_example');
  const byId = new Map(calls.map((row) => [stringOf(row, 'model_call_id'), row]));
  for (const row of calls) {
    const parent = byId.get(stringOf(row, 'parent_call_id'));
    const delta = numbers(row, 'token_ids_delta');
    const prefix = parent === undefined ? [] : numbers(parent, 'token_ids_delta');
    assert.equal(cumulativeHash([...prefix, ...delta]), stringOf(row, 'cumulative_hash'));
    assert.equal(
      chainHash(parent === undefined ? null : stringOf(parent, 'chain_hash'), delta),
      stringOf(row, 'chain_hash'),
    );
    assert.equal(extrasDigest(member(row, 'extras')), stringOf(row, 'extras_digest'));
    assert.equal(digestOf(row, 'capture_key', 3), stringOf(row, 'digest_schema_3'));
    assert.equal(digestOf(row, 'capture_key', 2), stringOf(row, 'digest_schema_2'));
  }
  const published = vectors('published_staged_call');
  assert.equal(digestOf(published, 'owner', 3), stringOf(published, 'digest_schema_3'));
  assert.equal(digestOf(published, 'owner', 2), stringOf(published, 'digest_schema_2'));
});
