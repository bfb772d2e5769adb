import { cumulativeHash } from '../../../../src/lineage/staged-digests.ts';
import type { Conversation, Evidence, Incarnation, RecordFacts, Violation, WorkerEvidence } from '../evidence.ts';

/**
 * Invariant 2: a record's parent is committed before it in the same attempt, its conversation with its answer is where the child's begins, and its tokens are
 * the first ones of the child's. And no link is lost: a request that extends a turn which its agent had received is no root.
 */
export function checkParents(evidence: Evidence): Violation[] {
  const expectations = new Map<string, 'continuation' | 'root'>();
  for (const { callId, expects } of evidence.sent)
    if (callId !== null && expects !== null) expectations.set(callId, expects);
  return evidence.incarnations.flatMap((life) => checkLife(life, evidence.worker, expectations));
}

function checkLife(
  { attempt, latest }: Incarnation,
  worker: WorkerEvidence,
  expectations: ReadonlyMap<string, 'continuation' | 'root'>,
): Violation[] {
  const violations: Violation[] = [];
  const tokens = new Map<string, number[]>();
  const before = new Map<string, RecordFacts>();
  for (const record of latest?.records ?? []) {
    const { callId, parentCallId } = record;
    const broken = (rule: string, detail: string) => violations.push({ invariant: 2, rule, attempt, callId, detail });
    const parent = parentCallId === null ? null : before.get(parentCallId);
    before.set(callId, record);
    const expected = expectations.get(callId);
    if (expected === 'root' && parentCallId !== null)
      broken('a request without a turn is a root', `its parent is ${parentCallId}`);
    if (expected === 'continuation' && parentCallId === null && worker.faults.get(callId) !== 'root_instead') {
      broken('a request that extends a received turn is its continuation', 'it is recorded as a root');
    }
    if (parent === undefined) {
      broken('a parent is committed in the same attempt', `${parentCallId} is not, or not before`);
      continue;
    }
    if (parent !== null) {
      if (parent.cumLen !== record.prevLen)
        broken('a parent ends where its child begins', `${parent.cumLen}, ${record.prevLen}`);
      const problem = extendsProblem(worker.conversations.get(parent.callId), worker.conversations.get(callId));
      if (problem !== null) broken("a parent's history and output are a prefix of the child's", problem);
    }
    const staged = worker.staged.get(callId);
    const prefix = parent === null ? [] : tokens.get(parent.callId);
    if (staged === undefined || prefix === undefined) continue;
    const all = prefix.concat([...staged.delta]);
    tokens.set(callId, all);
    if (cumulativeHash(all) !== record.cumulativeHash) {
      broken("the tokens of a parent's chain are the first of the child's", `their hash is not the record's`);
    }
  }
  return violations;
}

function extendsProblem(parent: Conversation | undefined, child: Conversation | undefined): string | null {
  if (parent === undefined || child === undefined) return 'the worker has not seen both';
  const boundary = parent.hashes.length;
  if (parent.answer === null || child.hashes[boundary] !== parent.answer) return 'the conversations differ';
  const rest = child.roles.slice(boundary + 1);
  if (rest.length === 0) return 'nothing was added';
  return rest.every((role) => role === 'user' || role === 'tool')
    ? null
    : `what was added has the roles ${rest.join(', ')}`;
}
