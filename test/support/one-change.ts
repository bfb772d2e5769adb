import assert from 'node:assert/strict';
import type { Dialect } from '../../src/protocol/conversation.ts';
import type { ScriptedAnswer } from '../../src/reference-worker/model.ts';
import { PATHS } from './client-writers.ts';
import type { Stack } from './stack.ts';

export type Body = Readonly<Record<string, unknown>>;

/** A change of a request, and what it makes of the call: null, it continues; else the members of `why_root` that must be there. */
export type Case<Request extends Body> = readonly [
  title: string,
  change: (body: Request) => Body,
  wanted: Readonly<Record<string, unknown>> | null,
];

/**
 * Each rule of equality of protocol section 3 from both sides: what is the same turn, and beside it the smallest real difference. Three calls; the cases, by rule,
 * change the request of the third.
 */
export interface DialectChanges<Request extends Body> {
  readonly dialect: Dialect;
  /** The first reply; the second is a text. */
  readonly turn: ScriptedAnswer;
  /** The request after so many replies. */
  request(served: readonly Body[]): Request;
  readonly cases: Readonly<Record<string, readonly Case<Request>[]>>;
}

export const differs = (index: number, role: string, part: string, more: object = {}) => ({
  cause: 'history_differs',
  index,
  role,
  part,
  ...more,
});
export const renders = (...keys: string[]) => ({ cause: 'render_differs', keys });

/** What became of the second call: null, it continues the first one; else `why_root`. */
export type Outcome = Readonly<Record<string, unknown>> | null;

let attempts = 0;

/**
 * Calls of a fresh attempt, one after the other: each is answered as told, and the body of each is made of what was served before. Says whether the last one continues
 * the one before it.
 */
export async function lastCall(
  stack: Stack,
  dialect: Dialect,
  calls: readonly { readonly answer: ScriptedAnswer; readonly body: (served: readonly Body[]) => Body }[],
): Promise<Outcome> {
  const attempt = `changed-${attempts++}`;
  const answers = calls.map(({ answer }) => ({ ...answer, when: { attempt } }));
  stack.worker.script({ answers, replace: false });
  const served: Body[] = [];
  for (const { body } of calls) {
    const reply = await stack.post(`/ng-rollout/${attempt}/v1/${PATHS[dialect]}`, body(served));
    assert.equal(reply.status, 200, reply.text);
    served.push(reply.json);
  }
  const { json: ledger } = await stack.control('POST', `/ledger/${attempt}/close`);
  const { records } = ledger.manifest;
  assert.deepEqual(
    records.map((record: { response_id: string }) => record.response_id),
    served.map(({ id }) => id),
  );
  const [before, last] = records.slice(-2);
  if (last.parent_call_id === null) return ledger.why_root[last.model_call_id];
  assert.equal(last.parent_call_id, before.model_call_id);
  return null;
}
