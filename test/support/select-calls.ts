import assert from 'node:assert/strict';
import type { Reason, RolloutOutcome } from '../../src/trainer/index.ts';
import { runWorld, selected, type World } from './trainer-world.ts';

export type Items = readonly unknown[];

export const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] };
export const toolOutput = { type: 'function_call_output', call_id: 'call_1', output: '42' };

export function withoutIds(items: Items): unknown[] {
  return items.map((item) => ({ ...(item as object), id: undefined }));
}

export async function select(world: World, result: object): Promise<string[]> {
  const outcome = await runWorld(world, { result: { reward: 1, ...result } });
  assert.equal(outcome.kind, 'rows', outcome.kind === 'masked' ? JSON.stringify(outcome.reasons) : '');
  return selected(outcome);
}

/** The one reason of a refused selection. */
export async function refuse(world: World, result: object): Promise<Reason> {
  const outcome: RolloutOutcome = await runWorld(world, { result: { reward: 1, ...result } });
  assert.equal(outcome.kind, 'masked');
  const { reasons } = outcome as Extract<RolloutOutcome, { kind: 'masked' }>;
  assert.equal(reasons.length, 1, JSON.stringify(reasons));
  const [first] = reasons;
  assert.ok(first);
  return first;
}

export const response = (output: Items, id = 'resp_harness') => ({ response: { id, output } });
