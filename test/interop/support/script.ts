import assert from 'node:assert/strict';
import type { Stack } from '../../support/stack.ts';
import type { Agent, Manner } from './agent.ts';
import type { Audit, EngineMessage, PeerWorker } from './peer.ts';
import { DIALECTS, type Served } from './served.ts';

export function toolCall(id: string, argumentsText: string, name = 'bash'): object {
  return { id, type: 'function', function: { name, arguments: argumentsText } };
}

/** A rollout in which a turn is all that it can be: text, reasoning, calls, both, several. */
export const SCRIPT: readonly EngineMessage[] = [
  { content: 'I will look.', reasoning_content: 'First look.', tool_calls: [toolCall('call_a', '{"command": "ls"}')] },
  { content: null, tool_calls: [toolCall('call_b', '{"command":"cat a"}'), toolCall('call_c', '{"command":"cat b"}')] },
  { content: 'Almost.', reasoning: 'Then think.' },
  { content: 'Dñne: 完了.' },
];

export const MANNERS: readonly Manner[] = DIALECTS.flatMap((dialect) => [{ dialect }, { dialect, stream: true }]);

export function nameOf({ dialect, stream }: Manner): string {
  return `${dialect} ${stream === true ? 'SSE' : 'JSON'}`;
}

/** Lets an agent work through {@link SCRIPT}, each turn in its own manner. */
export async function workThrough(
  worker: PeerWorker,
  agent: Agent,
  mannerOf: (turn: number) => Manner,
): Promise<Served[]> {
  await worker.script(...SCRIPT);
  const served: Served[] = [];
  for (const turn of SCRIPT.keys()) {
    if (served.at(-1)?.said.calls.length === 0) agent.says('Go on.');
    served.push(await agent.turn(mannerOf(turn)));
  }
  return served;
}

/** Reads the attempt through the package and asserts that it is one chain of these replies, verified, and attributed to the last. */
export async function assertOneChain(
  worker: PeerWorker,
  stack: Stack,
  attempt: string,
  served: readonly Served[],
): Promise<Audit> {
  const last = served.at(-1) as Served;
  const audit = await worker.audit(stack, attempt, { response: last.payload, declared: last.id });
  const calls = audit.records.map((record) => record.model_call_id);
  assert.deepEqual(audit.failures, []);
  assert.deepEqual(
    audit.records.map((record) => record.response_id),
    served.map(({ id }) => id),
  );
  assert.deepEqual(
    audit.records.map((record) => record.parent_call_id),
    [null, ...calls.slice(0, -1)],
  );
  assert.deepEqual(
    audit.staged,
    calls.map((call) => `${attempt}/${call}`),
  );
  assert.deepEqual(
    audit.rows.map((row) => row.calls),
    [calls],
  );
  assert.deepEqual(audit.selected, { call: calls.at(-1), reason: 'selected' });
  assert.equal(audit.attributed.call, calls.at(-1));
  assert.equal(audit.records.at(-1)?.output_fingerprint, audit.output_fingerprint);
  return audit;
}
