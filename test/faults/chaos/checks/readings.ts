import type { Incarnation, Reading, Violation } from '../evidence.ts';

/** What must hold of every single ledger, and of it and the one that was read before: invariants 3, 4 and 5. */
export function checkReading(
  incarnation: Pick<Incarnation, 'attempt' | 'latest' | 'closed'>,
  reading: Reading,
): Violation[] {
  const { attempt, latest, closed } = incarnation;
  const broken = (invariant: number, rule: string, callId: string | null, detail: string): Violation => ({
    invariant,
    rule,
    attempt,
    callId,
    detail,
  });
  return [
    ...checkDuplicates(reading, broken),
    ...checkPending(reading, broken),
    ...(latest === null ? [] : checkGrowth(latest, reading, broken)),
    ...(closed === null ? [] : checkClosed(closed, reading, broken)),
  ];
}

type Broken = (invariant: number, rule: string, callId: string | null, detail: string) => Violation;

function checkDuplicates(reading: Reading, broken: Broken): Violation[] {
  const rules: [string, string, readonly string[]][] = [
    ['no call has two records', 'recorded twice', reading.records.map(({ callId }) => callId)],
    ['no response has two records', 'its id stands in two records', reading.records.map((record) => record.responseId)],
    ['no call has two intents', 'attempted twice', reading.attempted],
    ['failure rows collapse', 'the same row twice', reading.failures.map((row) => `${row.callId} ${row.reason}`)],
  ];
  return rules.flatMap(([rule, detail, ids]) => repeated(ids).map((id) => broken(3, rule, id, detail)));
}

function repeated(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.filter((id) => seen.size === seen.add(id).size);
}

/** pending = intents − records − refusals; refused calls stand in no other list. */
function checkPending(reading: Reading, broken: Broken): Violation[] {
  const RULE = 'pending is exactly intents − records − refusals';
  const recorded = new Set(reading.records.map(({ callId }) => callId));
  const refused = new Set(reading.refused.map(({ callId }) => callId));
  const attempted = new Set(reading.attempted);
  const expected = reading.attempted.filter((callId) => !recorded.has(callId));
  const different = expected.findIndex((callId, at) => callId !== reading.pending[at]);
  const sameLength = expected.length === reading.pending.length;
  const at = different !== -1 ? different : sameLength ? -1 : expected.length;
  const violations: Violation[] = [];
  if (at !== -1) {
    const detail = `at ${at}: pending says ${reading.pending[at] ?? 'nothing'}, the other lists say ${expected[at] ?? 'nothing'}`;
    violations.push(broken(4, RULE, reading.pending[at] ?? expected[at] ?? null, detail));
  }
  for (const callId of recorded) {
    if (!attempted.has(callId))
      violations.push(broken(1, 'no record without an intent', callId, 'recorded, not attempted'));
    if (refused.has(callId)) violations.push(broken(4, RULE, callId, 'recorded and refused'));
  }
  for (const callId of refused)
    if (attempted.has(callId)) violations.push(broken(4, RULE, callId, 'attempted and refused'));
  for (const { callId } of reading.failures) {
    if (!attempted.has(callId))
      violations.push(broken(4, 'failure rows are of attempted calls', callId, 'not attempted'));
  }
  return violations;
}

/** Records only grow, and none changes; intents stay, but for those that were refused. */
function checkGrowth(before: Reading, after: Reading, broken: Broken): Violation[] {
  const violations: Violation[] = [];
  for (const [at, record] of before.records.entries()) {
    const now = after.records[at];
    if (now?.hash === record.hash) continue;
    const detail = now === undefined ? 'it was read before and is gone' : `record ${at} was another one before`;
    violations.push(broken(3, 'records only grow and never change', record.callId, detail));
    break;
  }
  const known = new Set([...after.attempted, ...after.refused.map(({ callId }) => callId)]);
  const lost = [...before.attempted, ...before.refused.map(({ callId }) => callId)].find(
    (callId) => !known.has(callId),
  );
  if (lost !== undefined) violations.push(broken(1, 'an intent stays', lost, 'it was read before and is gone'));
  if (before.state === 'closed' && after.state === 'open')
    violations.push(broken(5, 'a closed attempt stays closed', null, 'it is open'));
  const failures = new Set(after.failures.map(({ callId, reason }) => `${callId} ${reason}`));
  for (const { callId, reason } of before.failures) {
    if (failures.has(`${callId} ${reason}`) || after.refused.some((row) => row.callId === callId)) continue;
    violations.push(broken(4, 'a failure row stays', callId, `${reason} was read before and is gone`));
  }
  return violations;
}

/** After close returned, no intent is added. */
function checkClosed(closed: Reading, after: Reading, broken: Broken): Violation[] {
  const known = new Set([...closed.attempted, ...closed.refused.map(({ callId }) => callId)]);
  return [...after.attempted, ...after.refused.map(({ callId }) => callId)]
    .filter((callId) => !known.has(callId))
    .map((callId) =>
      broken(5, 'no intent after close returned', callId, 'it stood in no list when the close was answered'),
    );
}
