import type { Evidence, RecordFacts, StagedFacts, Violation } from '../evidence.ts';

/** No record without a staged call that the worker acknowledged, and each record says of it what the worker stored. */
export function checkStaged({ incarnations, worker }: Evidence): Violation[] {
  return incarnations.flatMap(({ attempt, latest }) =>
    (latest?.records ?? []).flatMap((record): Violation[] => {
      const broken = (rule: string, detail: string): Violation[] => [
        { invariant: 1, rule, attempt, callId: record.callId, detail },
      ];
      const staged = worker.staged.get(record.callId);
      if (staged === undefined) return broken('no record without a staged call', 'nothing is staged for it');
      if (!worker.acknowledged.has(record.callId))
        return broken('no record without an acknowledgement', 'the worker did not acknowledge it');
      const different = differenceOf(record, staged, `${attempt}/${record.callId}`);
      return different === null ? [] : broken('a record says what was staged', `${different} differs`);
    }),
  );
}

function differenceOf(record: RecordFacts, staged: StagedFacts, stagingKey: string): string | null {
  if (record.stagingKey !== stagingKey) return 'staging key';
  for (const name of ['parentCallId', 'prevLen', 'cumLen', 'digest', 'chainHash', 'cumulativeHash'] as const) {
    if (record[name] !== staged[name]) return name;
  }
  return record.deltaLen === staged.delta.length ? null : 'delta length';
}
