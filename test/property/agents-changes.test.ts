import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CHAT_CHANGES } from '../support/changes-chat.ts';
import { MESSAGES_CHANGES } from '../support/changes-messages.ts';
import { RESPONSES_CHANGES } from '../support/changes-responses.ts';
import { type Body, type DialectChanges, lastCall } from '../support/one-change.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
before(async () => {
  stack = await startStack({ worker: { models: ['policy', 'policy-2'], keptRequests: 1 } });
});
after(() => stack.close());

/** The members of `why_root` that are wanted. */
function chosen(why: Body | null, wanted: Body | null): Body | null {
  if (why === null || wanted === null) return why;
  return Object.fromEntries(Object.keys(wanted).map((key) => [key, why[key]]));
}

function testChanges<Request extends Body>({ dialect, turn, request, cases }: DialectChanges<Request>): void {
  describe(`${dialect}: the same turn, and the smallest real difference`, { concurrency: 4 }, () => {
    for (const [rule, ofRule] of Object.entries(cases))
      for (const [title, change, wanted] of ofRule)
        test(`${rule}: ${title}`, async () => {
          const why = await lastCall(stack, dialect, [
            { answer: turn, body: request },
            { answer: { content: 'Seen.' }, body: request },
            { answer: { content: 'Done.' }, body: (served) => change(request(served)) },
          ]);
          assert.deepEqual(chosen(why, wanted), wanted);
        });
  });
}

testChanges(CHAT_CHANGES);
testChanges(RESPONSES_CHANGES);
testChanges(MESSAGES_CHANGES);
