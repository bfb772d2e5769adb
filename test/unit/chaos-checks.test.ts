import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cumulativeHash } from '../../src/lineage/staged-digests.ts';
import { checkEvidence } from '../faults/chaos/checks/index.ts';
import { checkReading } from '../faults/chaos/checks/readings.ts';
import type { Evidence, Incarnation, Reading, RecordFacts, Sent, Violation } from '../faults/chaos/evidence.ts';

/** The checks of the chaos run, one by one: a sound world passes, and each way to break it is named. */

const HEX = 'a'.repeat(64);
const TOKENS: Record<string, number[]> = { c1: [1, 2], c2: [3, 4] };

function record(callId: string, parentCallId: string | null): RecordFacts {
  const all =
    parentCallId === null ? (TOKENS[callId] ?? []) : [...(TOKENS[parentCallId] ?? []), ...(TOKENS[callId] ?? [])];
  return {
    callId,
    parentCallId,
    responseId: `r-${callId}`,
    prevLen: all.length - 2,
    deltaLen: 2,
    cumLen: all.length,
    digest: HEX,
    chainHash: HEX,
    cumulativeHash: cumulativeHash(all),
    stagingKey: `a/${callId}`,
    status: 'completed',
    hash: callId,
  };
}

interface World {
  readonly reading: { -readonly [K in keyof Reading]: Reading[K] };
  readonly life: Incarnation;
  readonly sent: Sent[];
  readonly worker: {
    readonly admitted: Map<string, { attempt: string; parentCallId: string | null; atMs: number }[]>;
    readonly staged: Map<string, Evidence['worker']['staged'] extends ReadonlyMap<string, infer V> ? V : never>;
    readonly acknowledged: Set<string>;
    readonly conversations: Map<
      string,
      Evidence['worker']['conversations'] extends ReadonlyMap<string, infer V> ? V : never
    >;
    readonly faults: Map<string, string>;
  };
}

/** One closed attempt: c1, its continuation c2, a refused c3, and c4 that is pending with its failure row. */
function soundWorld(): World {
  const records = [record('c1', null), record('c2', 'c1')];
  const reading: World['reading'] = {
    startedMs: 1000,
    endedMs: 1010,
    state: 'closed',
    records,
    failures: [{ callId: 'c4', reason: 'request_finished_without_staged_coordinates' }],
    attempted: ['c1', 'c2', 'c4'],
    pending: ['c4'],
    refused: [{ callId: 'c3', code: 'context_length_exceeded' }],
    text: null,
  };
  const life: Incarnation = {
    number: 0,
    attempt: 'a',
    generation: 1,
    closed: reading,
    closeAsked: true,
    latest: reading,
    removed: null,
    isFinal: true,
  };
  const sentOf = (callId: string, expects: Sent['expects']): Sent => ({
    incarnation: 0,
    dialect: 'chat',
    stream: false,
    key: `k-${callId}`,
    mark: `a/1/${callId.slice(1)}`,
    expects,
    sentMs: 1,
    endedMs: 2,
    outcome: 'reply',
    status: 200,
    code: null,
    callId,
    responseId: `r-${callId}`,
    replyHash: callId,
  });
  const conversation = (callId: string, hashes: string[], roles: string[]) =>
    [callId, { attempt: 'a', tags: ['a/1/1', `a/1/${callId.slice(1)}`], hashes, roles, answer: `${callId}!` }] as const;
  return {
    reading,
    life,
    sent: [sentOf('c1', 'root'), sentOf('c2', 'continuation')],
    worker: {
      admitted: new Map(['c1', 'c2', 'c3', 'c4'].map((id) => [id, [{ attempt: 'a', parentCallId: null, atMs: 500 }]])),
      staged: new Map(
        records.map((one) => [
          one.callId,
          { ...one, delta: Int32Array.from(TOKENS[one.callId] ?? []), mask: Uint8Array.from([0, 1]), text: null },
        ]),
      ),
      acknowledged: new Set(['c1', 'c2']),
      conversations: new Map([
        conversation('c1', ['u1'], ['user']),
        conversation('c2', ['u1', 'c1!', 'u2'], ['user', 'assistant', 'user']),
        conversation('c3', ['u3'], ['user']),
        conversation('c4', ['u4'], ['user']),
      ]),
      faults: new Map(),
    },
  };
}

const check = ({ life, sent, worker }: World) => checkEvidence({ incarnations: [life], sent, worker, seen: [] });
const named = (violations: readonly Violation[]) => violations.map(({ invariant, callId }) => `${invariant} ${callId}`);

type Break = (world: World) => void;
const replace = (world: World, at: number, change: Partial<RecordFacts>) => {
  world.reading.records = world.reading.records.map((one, index) => (index === at ? { ...one, ...change } : one));
};

/** What is broken, how, and the invariant with the call that must be named (among others). */
const BREAKS: readonly (readonly [what: string, how: Break, expected: string])[] = [
  ['an inference without an intent', (w) => (w.reading.attempted = ['c1', 'c2']), '5 c4'],
  [
    'the same before a close',
    (w) => {
      w.life.closed = null;
      w.reading.attempted = ['c1', 'c2'];
    },
    '1 c4',
  ],
  [
    'a call that was sent twice',
    (w) => w.worker.admitted.get('c1')?.push({ attempt: 'a', parentCallId: null, atMs: 600 }),
    '1 c1',
  ],
  [
    'a call that ran although it was refused',
    (w) => (w.reading.refused = [{ callId: 'c3', code: 'ledger_unavailable' }]),
    '1 c3',
  ],
  ['a reply without a record', (w) => (w.reading.records = w.reading.records.slice(0, 1)), '1 c2'],
  ['a reply that another call has on record', (w) => replace(w, 1, { responseId: 'r-other' }), '1 c2'],
  ['a record without a staged call', (w) => w.worker.staged.delete('c2'), '1 c2'],
  ['a record without an acknowledgement', (w) => w.worker.acknowledged.delete('c2'), '1 c2'],
  ['a record that says something else than was staged', (w) => replace(w, 0, { digest: 'b'.repeat(64) }), '1 c1'],
  ['a parent that is not there', (w) => replace(w, 1, { parentCallId: 'c9' }), '2 c2'],
  ['a parent of another length', (w) => replace(w, 1, { prevLen: 1 }), '2 c2'],
  [
    'a parent whose conversation is not extended',
    (w) => {
      (w.worker.conversations.get('c2') as { hashes: readonly string[] }).hashes = ['u1', 'x', 'u2'];
    },
    '2 c2',
  ],
  [
    'a parent after which an assistant spoke',
    (w) => {
      (w.worker.conversations.get('c2') as { roles: readonly string[] }).roles = ['user', 'assistant', 'assistant'];
    },
    '2 c2',
  ],
  ['tokens that are not the prefix', (w) => replace(w, 1, { cumulativeHash: HEX }), '2 c2'],
  ['a link that was lost', (w) => replace(w, 1, { parentCallId: null }), '2 c2'],
  [
    'a parent where there was no turn',
    (w) => {
      (w.sent[1] as { expects: string }).expects = 'root';
    },
    '2 c2',
  ],
  ['an orphan without its failure row', (w) => (w.reading.failures = []), '4 c4'],
  [
    'a call of an earlier life',
    (w) => {
      (w.worker.conversations.get('c4') as { tags: readonly string[] }).tags = ['a/0/7', 'a/1/4'];
    },
    '6 c4',
  ],
  ['a re-send with other bytes', (w) => w.sent.push({ ...(w.sent[0] as Sent), replyHash: 'other' }), '0 c1'],
  [
    'two calls under one key',
    (w) => {
      (w.worker.conversations.get('c2') as { tags: readonly string[] }).tags = ['a/1/1'];
    },
    '0 c2',
  ],
];

describe('the checks of the chaos run', () => {
  test('a sound world passes', async () => {
    assert.deepEqual(await check(soundWorld()), []);
  });

  for (const [what, how, expected] of BREAKS) {
    test(`name ${what}`, async () => {
      const world = soundWorld();
      how(world);
      assert.ok(named(await check(world)).includes(expected), named(await check(world)).join(', '));
    });
  }
});

describe('the checks of one ledger', () => {
  const at = (change: Partial<Reading>, life: Partial<Incarnation> = {}) =>
    named(checkReading({ attempt: 'a', latest: null, closed: null, ...life }, { ...soundWorld().reading, ...change }));
  const { reading } = soundWorld();

  test('a sound one passes, also after itself', () => {
    assert.deepEqual(at({}), []);
    assert.deepEqual(at({}, { latest: reading, closed: reading }), []);
  });

  for (const [what, change, life, expected] of [
    ['a record that stands there twice', { records: [...reading.records, ...reading.records.slice(1)] }, {}, '3 c2'],
    ['an intent that stands there twice', { attempted: ['c1', 'c2', 'c4', 'c4'], pending: ['c4', 'c4'] }, {}, '3 c4'],
    ['a pending call that is not listed', { pending: [] }, {}, '4 c4'],
    ['a recorded call that is pending', { pending: ['c2', 'c4'] }, {}, '4 c2'],
    ['a record without an intent', { attempted: ['c1', 'c4'] }, {}, '1 c2'],
    ['a refused call among the attempted', { refused: [{ callId: 'c4', code: 'x' }] }, {}, '4 c4'],
    ['a failure row of nobody', { failures: [{ callId: 'c9', reason: 'x' }] }, {}, '4 c9'],
    [
      'a record that changed',
      { records: reading.records.map((one) => ({ ...one, hash: `${one.hash}'` })) },
      { latest: reading },
      '3 c1',
    ],
    [
      'a record that is gone',
      { records: reading.records.slice(0, 1), pending: ['c2', 'c4'] },
      { latest: reading },
      '3 c2',
    ],
    ['an intent that is gone', { attempted: ['c1', 'c2'], pending: [], failures: [] }, { latest: reading }, '1 c4'],
    ['a failure row that is gone', { failures: [] }, { latest: reading }, '4 c4'],
    ['a closed attempt that is open again', { state: 'open' }, { latest: reading }, '5 null'],
    [
      'an intent after close',
      { attempted: ['c1', 'c2', 'c4', 'c5'], pending: ['c4', 'c5'] },
      { closed: reading },
      '5 c5',
    ],
  ] as const) {
    test(`name ${what}`, () => {
      const found = at(change as Partial<Reading>, life as Partial<Incarnation>);
      assert.ok(found.includes(expected), found.join(', '));
    });
  }
});
