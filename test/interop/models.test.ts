import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { schema2 } from '../../src/call/strategy/schema2.ts';
import type { Admission, RecordFacts } from '../../src/call/strategy/strategy.ts';
import type { Candidate } from '../../src/ledger/ledger.ts';
import { type JsonFragment, joinFragments } from '../../src/protocol/json/fragment.ts';
import { type Peer, startPeer } from './support/peer.ts';
import { describeWith, pythonEnvironment } from './support/python-environment.ts';
import { samplesOf } from './support/samples.ts';

/** What this proxy writes and takes, under the strict models of the published package. */

const environment = await pythonEnvironment('peer');
const strategy = schema2({ ownerKey: 'rollout_id', workerKind: 'vllm' });

const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const callId = fc.stringMatching(/^[0-9a-f]{32}$/);
const attempt = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,30}$/);
const length = fc.integer({ min: 1, max: 2 ** 40 });

const candidates: fc.Arbitrary<Candidate> = fc.record({
  callId,
  cumLen: length,
  chainHash: hash,
  stagingChain: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }),
  itemCount: length,
  sourceDigest: hash,
  emptyToolContentDigest: hash,
  renderDigest: hash,
  match: fc.constantFrom('exact', 'empty_tool_content'),
});
const admissions: fc.Arbitrary<Admission> = fc.record({
  attempt,
  callId,
  candidate: fc.option(candidates),
  items: fc.constant([]),
  renderDigest: hash,
});

const facts: fc.Arbitrary<RecordFacts> = fc
  .record({
    parent: fc.option(fc.record({ id: callId, length })),
    delta_len: length,
    weight_version: fc.nat(),
    call: callId,
    digests: fc.tuple(hash, hash, hash, hash),
    response: fc.string({ minLength: 1 }),
    admittedAtS: fc.oneof(fc.integer({ min: 1 }), fc.double({ min: 1, max: 1e10, noNaN: true })),
    fingerprints: fc.tuple(fc.option(hash), fc.option(hash)),
  })
  .map(({ parent, delta_len, weight_version, call, digests, response, admittedAtS, fingerprints }) => ({
    coordinates: {
      disposition: 'staged',
      owner: 'attempt',
      model_call_id: call,
      parent_call_id: parent?.id ?? null,
      prev_len: parent?.length ?? 0,
      delta_len,
      cum_len: (parent?.length ?? 0) + delta_len,
      weight_version,
      digest: digests[0],
      extras_digest: digests[1],
      chain_hash: digests[2],
      cumulative_hash: digests[3],
      staging_key: `attempt/${call}`,
    },
    responseId: response,
    admittedAtS,
    outputItems: null,
    outputFingerprint: fingerprints[0],
    continuationFingerprint: fingerprints[1],
    responseStatus: null,
    finishReason: null,
    lastOutputItem: null,
    replay: { itemCount: 1, sourceDigest: digests[0], emptyToolContentDigest: digests[0] },
    renderDigest: digests[0],
  }));

const HEX = 'a'.repeat(64);
const ROOT: Admission = { attempt: 'attempt', callId: 'call', candidate: null, items: [], renderDigest: HEX };
const STAGED = {
  schema_version: 2,
  digest_version: 2,
  extras_digest_version: 1,
  rollout_id: 'attempt',
  model_call_id: 'call',
  parent_call_id: null,
  prev_len: 0,
  delta_len: 3,
  cum_len: 3,
  weight_version: 7,
  disposition: 'staged',
  digest: HEX,
  extras_digest: HEX,
  staging_key: 'attempt/call',
  chain_hash: HEX,
  cumulative_hash: HEX,
};
const VALUES = [null, true, '', 'x', HEX, HEX.toUpperCase(), -1, 0, 1, 2, 3, 3.5, '3', 2 ** 53, [], {}];

describeWith(environment, 'the published models', (python) => {
  let peer: Peer;
  before(async () => {
    peer = await startPeer(python);
  });
  after(() => peer.stop());

  const verdicts = (model: string, texts: readonly string[]): Promise<(string | null)[]> =>
    peer.ask('models', { model, texts });

  test('take every admission', async () => {
    const { values, seed } = samplesOf(admissions, 1000);
    const texts = values.map((admission) =>
      joinFragments(new Map(strategy.upstreamFields(admission)).get('ng_capture') as JsonFragment[]).toString(),
    );
    assert.deepEqual(await verdicts('admission', texts), Array(values.length).fill(null), `seed ${seed}`);
  });

  test('take every manifest', async () => {
    const { values, seed } = samplesOf(fc.array(facts, { maxLength: 4 }), 500);
    const failures = [{ callId: 'lost', reason: 'unresolved_parent' }];
    const texts = values.map((records) => {
      const head = { closed: true, attemptedCallIds: ['pending'], pendingCallIds: ['pending'], failures };
      return (
        strategy.manifestBefore('attempt') + records.map(strategy.recordJson).join(',') + strategy.manifestAfter(head)
      );
    });
    assert.deepEqual(await verdicts('manifest', texts), Array(values.length).fill(null), `seed ${seed}`);
  });

  test('refuse no coordinates that are taken here', async () => {
    const changed = Object.keys(STAGED).flatMap((name) => VALUES.map((value) => ({ ...STAGED, [name]: value })));
    const lacking = Object.keys(STAGED).map((name) => ({ ...STAGED, [name]: undefined }));
    const all: object[] = [STAGED, { ...STAGED, more: 1 }, ...changed, ...lacking];
    const theirs = await verdicts(
      'coordinates',
      all.map((one) => JSON.stringify(one)),
    );
    const ours = all.map((one) => strategy.judge(JSON.parse(JSON.stringify(one)), ROOT).kind === 'staged');
    assert.deepEqual(
      all.filter((_, at) => ours[at] && theirs[at] !== null),
      [],
    );
    // Not only the one that nothing was done to.
    assert.ok(ours[0] && ours.filter(Boolean).length > 5 && theirs.filter((why) => why === null).length > 10);
  });
});
