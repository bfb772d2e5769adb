import type { Evidence, Violation } from '../evidence.ts';

/** Invariant 4 across crashes: once everything runs again, every call has its record or its refusal, or it is pending and a failure row says so. */
export function checkSettled({ incarnations }: Evidence): Violation[] {
  return incarnations.flatMap(({ attempt, latest, isFinal }) => {
    if (!isFinal || latest === null) return [];
    const failed = new Set(latest.failures.map(({ callId }) => callId));
    return latest.pending
      .filter((callId) => !failed.has(callId))
      .map((callId) => ({
        invariant: 4,
        rule: 'what a dead replica left has its failure row',
        attempt,
        callId,
        detail: 'it is pending without one, and nobody works on it any more',
      }));
  });
}
