import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { randomFrom } from '../support/client-histories.ts';
import { type Answered, anyDialect, appended, ask, opening, someAnswers } from '../support/random-attempt.ts';
import { EDITS, type Edited } from '../support/random-edits.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** A history grows until there is something to edit, to this many calls. */
const LONGEST = 10;
const RUNS = 4;

let stack: Stack;
before(async () => {
  stack = await startStack({ worker: { keptRequests: 1 } });
});
after(() => stack.close());

/** What of `why_root` was written down. */
function chosen(why: Readonly<Record<string, unknown>>, expected: Edited['why']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(expected).map(([key, value]) => {
      const alternatives = key === 'part' && Array.isArray(value) ? value : null;
      return [key, alternatives?.includes(why[key]) ? value : why[key]];
    }),
  );
}

describe('one edit of a history makes a root, never another parent', { concurrency: 4 }, () => {
  let attempts = 0;

  for (const [name, edit] of Object.entries(EDITS))
    test(name, async () => {
      let edits = 0;
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 2, max: 5 }), fc.noShrink(fc.integer()), async (length, seed) => {
          const attempt = `edited-${attempts++}`;
          const random = randomFrom(seed);
          const writing = { random, plain: false };
          const dialect = anyDialect(random);
          const answers = someAnswers(LONGEST + 2, seed);
          stack.worker.script({ answers: answers.map((one) => ({ ...one, when: { attempt } })), replace: false });
          let call: Answered = await ask(stack, attempt, dialect, opening(random, 'm'), writing);
          let change: Edited | null = null;
          for (let calls = 1; calls < length || (change === null && calls < LONGEST); calls++) {
            call = await ask(stack, attempt, dialect, appended(call, random, `m${calls}`, false), writing);
            change = edit(appended(call, random, 'edited', false), dialect, random);
          }
          if (change === null) return;
          edits += 1;
          const root = await ask(stack, attempt, dialect, change.history, writing);
          // The history as it was goes on where it was.
          const after = await ask(stack, attempt, dialect, appended(call, random, 'unedited', false), writing);

          const { json: ledger } = await stack.control('POST', `/ledger/${attempt}/close`);
          const records = ledger.manifest.records as CallRow[];
          const recordOf = ({ responseId }: Answered) => {
            const record = records.find(({ response_id }) => response_id === responseId);
            assert.ok(record !== undefined);
            return record;
          };
          assert.equal(recordOf(root).parent_call_id, null);
          assert.deepEqual(chosen(ledger.why_root[recordOf(root).model_call_id], change.why), change.why);
          assert.equal(recordOf(after).parent_call_id, recordOf(call).model_call_id);
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
      assert.ok(edits > 0, 'no random history could be edited so');
    });
});

interface CallRow {
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly response_id: string;
}
