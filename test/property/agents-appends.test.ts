import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { pick, randomFrom } from '../support/client-histories.ts';
import type { Writing } from '../support/client-writers.ts';
import { type Answered, anyDialect, appended, ask, opening, someAnswers } from '../support/random-attempt.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** Calls of one attempt in flight at a time. */
const IN_FLIGHT = 50;
const CALLS = 200;
/** So many of the newest answers are gone on with; fewer than calls in flight, so that forks abound. */
const NEWEST = 30;
const RUNS = 2;

/** A call, and the one that it must continue, by what was served. */
interface Made {
  readonly responseId: string;
  readonly parent: string | null;
}

interface CallRow {
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly response_id: string;
  readonly staging_key: string;
}

/** Clients that all go on with whatever calls of the attempt are answered, each request in a style of its own. */
async function growAttempt(stack: Stack, attempt: string, writing: Writing): Promise<Made[]> {
  const { random, plain } = writing;
  const answered: Answered[] = [];
  const made: Made[] = [];
  let started = 0;
  const client = async () => {
    while (started < CALLS) {
      const mark = `m${started++}`;
      const parent = answered.length === 0 || random() < 0.05 ? null : pick(random, answered.slice(-NEWEST));
      const dialect = parent?.dialect ?? anyDialect(random);
      const history = parent === null ? opening(random, mark) : appended(parent, random, mark, plain);
      const call = await ask(stack, attempt, dialect, history, writing);
      answered.push(call);
      made.push({ responseId: call.responseId, parent: parent?.responseId ?? null });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return made;
}

/** Closes the attempt and compares every record, and what the worker staged, with what the clients did. */
async function checkAttempt(stack: Stack, attempt: string, made: readonly Made[]): Promise<void> {
  const { json: ledger } = await stack.control('POST', `/ledger/${attempt}/close`);
  const { failures, pending_call_ids } = ledger.manifest;
  const records = ledger.manifest.records as CallRow[];
  const clean = { complete: true, failures: [], pending_call_ids: [] };
  assert.deepEqual({ complete: ledger.complete, failures, pending_call_ids }, clean);
  const served = new Map(records.map((record) => [record.model_call_id, record.response_id]));
  const found = new Map(
    records.map(({ response_id, parent_call_id }) => [
      response_id,
      parent_call_id === null ? null : served.get(parent_call_id),
    ]),
  );
  const wrong = made
    .filter(({ responseId, parent }) => found.get(responseId) !== parent)
    .map((call) => {
      const { model_call_id = '' } = records.find(({ response_id }) => response_id === call.responseId) ?? {};
      return { ...call, found: found.get(call.responseId), why: ledger.why_root[model_call_id] };
    });
  assert.deepEqual({ wrong, calls: found.size }, { wrong: [], calls: CALLS });
  for (const { staging_key, parent_call_id } of records)
    assert.equal(stack.worker.stagedRecord(staging_key)?.parent_call_id, parent_call_id);
}

/** Calls with more than one continuation. */
function forks(made: readonly Made[]): number {
  const children = Map.groupBy(made, ({ parent }) => parent);
  return [...children].filter(([parent, calls]) => parent !== null && calls.length > 1).length;
}

const VARIANTS = [
  { title: 'contents of all shapes', plain: false, config: {} },
  { title: 'contents that are strings, null and "" taken for one another', plain: true, config: {} },
  {
    title: 'reasoning sent back or not',
    plain: false,
    forgetsReasoning: true,
    config: { 'lineage.reasoning': 'optional' },
  },
] as const;

describe('what is appended, in whatever style, continues the right call, with 50 calls in flight and forks among them', () => {
  for (const { title, config, ...style } of VARIANTS)
    test(title, async () => {
      const stack = await startStack({ worker: { keptRequests: 1 }, config });
      let attempts = 0;
      try {
        await fc.assert(
          fc.asyncProperty(fc.noShrink(fc.integer()), async (seed) => {
            const attempt = `grown-${attempts++}`;
            stack.worker.script({ answers: someAnswers(CALLS, seed) });
            const made = await growAttempt(stack, attempt, { ...style, random: randomFrom(seed) });
            assert.ok(forks(made) > CALLS / 20, 'hardly any forks');
            await checkAttempt(stack, attempt, made);
          }),
          { numRuns: RUNS, endOnFailure: true },
        );
      } finally {
        await stack.close();
      }
    });
});
