import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packAnswers, packJobs, unpackAnswer, unpackJob } from '../../../src/ledger/sqlite/packing.ts';
import type { Answer, Job } from '../../../src/ledger/sqlite/transactions.ts';

const BOUNDARY = {
  itemCount: 3,
  sourceDigest: 's',
  emptyToolContentDigest: 'e',
  renderDigest: 'r',
  echoedIds: ['i'],
  reasoning: ['d', null],
};
const ADMIT = {
  attempt: 'a',
  callId: 'c',
  replica: 'p',
  admittedAtS: 1.5,
  boundary: BOUNDARY,
  namedParent: 'n',
  onAmbiguous: 'refuse',
  onUnmatched: 'root_if_fresh',
  afterFailure: 'serve',
  maxCalls: 7,
  resend: { requestDigest: 'q', idempotencyKey: 'k' },
};
const COMMIT = {
  attempt: 'a',
  callId: 'c',
  recordJson: '{}',
  index: {
    parentCallId: 'b',
    responseId: 'i',
    cumLen: 9,
    chainHash: 'h',
    cumulativeHash: 'u',
    stagingKey: 'a/c',
    itemCount: 4,
    sourceDigest: 's',
    emptyToolContentDigest: 'e',
    renderDigest: 'r',
    outputIds: ['o', 'p'],
    reasoning: [null, 'd'],
  },
  whyRootJson: '{"w":1}',
  sketchJson: '{"s":1}',
  replyJson: '{"r":1}',
};
const CANDIDATE = {
  callId: 'c',
  cumLen: 5,
  chainHash: 'h',
  stagingChain: ['a/b', 'a/c'],
  itemCount: 2,
  sourceDigest: 's',
  emptyToolContentDigest: 'e',
  renderDigest: 'r',
  match: 'empty_tool_content',
};

test('jobs arrive as they were sent, nulls and absent members too', () => {
  const jobs: Job[] = [
    { id: 1, name: 'admit', nowS: 2.5, args: [ADMIT] },
    { id: 2, name: 'admit', nowS: 2.5, args: [{ ...ADMIT, boundary: null, namedParent: undefined, resend: null }] },
    {
      id: 3,
      name: 'admit',
      nowS: 2.5,
      args: [{ ...ADMIT, boundary: { ...BOUNDARY, reasoning: null }, namedParent: null }],
    },
    { id: 4, name: 'admit', nowS: 2.5, args: [{ ...ADMIT, resend: { requestDigest: 'q', idempotencyKey: null } }] },
    { id: 5, name: 'commit', nowS: 2.5, args: [COMMIT] },
    {
      id: 6,
      name: 'commit',
      nowS: 2.5,
      args: [
        {
          ...COMMIT,
          index: { ...COMMIT.index, parentCallId: null, outputIds: [], reasoning: null },
          whyRootJson: null,
          replyJson: null,
        },
      ],
    },
    { id: 7, name: 'delivered', nowS: 2.5, args: ['a', 'c'] },
    { id: 8, name: 'gauges', nowS: 2.5, args: [] },
  ];
  assert.deepEqual(structuredClone(packJobs(jobs)).map(unpackJob), jobs);
});

test('answers arrive as they were given', () => {
  const admitted = { kind: 'admitted', candidate: CANDIDATE, rootedBy: null, recordsSeen: 3 };
  const answers: Answer[] = [
    { id: 1, value: admitted },
    { id: 2, value: { ...admitted, candidate: null, rootedBy: 'named_parent', namedCallId: 'n' } },
    { id: 3, value: { kind: 'refused', code: 'attempt_closed' } },
    { id: 4, value: 'committed' },
    { id: 5, value: undefined },
    { id: 6, value: ['r1', 'r2'] },
    { id: 7, unavailable: true, message: 'the disk is full' },
    { id: 8, unavailable: false, message: 'a defect' },
  ];
  assert.deepEqual(structuredClone(packAnswers(answers)).map(unpackAnswer), answers);
});
