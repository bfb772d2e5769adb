import type { Evidence, Incarnation, Sent, Violation } from '../evidence.ts';

/** Design, "Never twice": a re-send gets the very bytes of the call that it repeats, and under one Idempotency-Key at most one call comes to a sound record. */
export function checkResends(evidence: Evidence): Violation[] {
  return [...checkBytes(evidence), ...checkKeys(evidence)];
}

function checkBytes({ sent, incarnations }: Evidence): Violation[] {
  const first = new Map<string, Sent>();
  return sent.flatMap((one): Violation[] => {
    if (one.replyHash === null || one.callId === null) return [];
    const form = `${one.callId} ${one.stream}`;
    const earlier = first.get(form);
    if (earlier === undefined) first.set(form, one);
    if (earlier === undefined || earlier.replyHash === one.replyHash) return [];
    const attempt = incarnations[one.incarnation]?.attempt ?? '';
    const detail = `two ${one.dialect} replies ${one.stream ? 'as streams ' : ''}are not the same bytes`;
    return [{ invariant: 0, rule: 'a re-send gets the same bytes', attempt, callId: one.callId, detail }];
  });
}

function checkKeys({ sent, incarnations, worker }: Evidence): Violation[] {
  const byMark = new Map<string, string[]>();
  for (const { latest } of incarnations) {
    const failed = new Set(latest?.failures.map(({ callId }) => callId));
    for (const { callId, status } of latest?.records ?? []) {
      // An answer that the engine gave up is recorded, but its agent got an error: repeating it is a new call.
      if (status !== 'completed' && status !== 'incomplete') continue;
      const mark = worker.conversations.get(callId)?.tags.at(-1);
      if (mark !== undefined && !failed.has(callId)) byMark.set(mark, [...(byMark.get(mark) ?? []), callId]);
    }
  }
  const marks = new Map<string, Incarnation | undefined>();
  for (const one of sent) if (one.key !== null && one.mark !== null) marks.set(one.mark, incarnations[one.incarnation]);
  return [...marks].flatMap(([mark, life]): Violation[] => {
    const calls = byMark.get(mark) ?? [];
    if (calls.length < 2) return [];
    const attempt = life?.attempt ?? '';
    const detail = `${calls.join(' and ')} repeat one request, and neither failed`;
    return [{ invariant: 0, rule: 'one Idempotency-Key, one call', attempt, callId: calls[1] as string, detail }];
  });
}
