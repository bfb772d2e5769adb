import type { Evidence, RecordFacts, Violation } from '../evidence.ts';

/** Invariant 1, second half: every reply of which anything reached an agent has exactly one record, that of its call. */
export function checkReplies({ incarnations, sent }: Evidence): Violation[] {
  const RULE = 'every call whose reply reached an agent has exactly one record';
  const byResponse = new Map<string, { readonly incarnation: number; readonly record: RecordFacts }[]>();
  for (const { number, latest } of incarnations) {
    for (const record of latest?.records ?? []) {
      byResponse.set(record.responseId, [
        ...(byResponse.get(record.responseId) ?? []),
        { incarnation: number, record },
      ]);
    }
  }
  return sent.flatMap((one): Violation[] => {
    const life = incarnations[one.incarnation];
    if (one.responseId === null || life?.latest == null || life.latest.startedMs < one.endedMs) return [];
    const broken = (detail: string): Violation[] => [
      { invariant: 1, rule: RULE, attempt: life.attempt, callId: one.callId, detail },
    ];
    const found = byResponse.get(one.responseId) ?? [];
    const [only] = found;
    if (only === undefined) return broken(`no record has the response ${one.responseId}`);
    if (found.length > 1) return broken(`${found.length} records have the response ${one.responseId}`);
    if (only.incarnation !== one.incarnation)
      return broken(`${one.responseId} is recorded in another life of the attempt`);
    if (one.callId !== null && only.record.callId !== one.callId)
      return broken(`${one.responseId} is recorded for the call ${only.record.callId}`);
    return [];
  });
}
