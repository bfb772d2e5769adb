import type { Evidence, Violation } from '../evidence.ts';

/** Nothing of a deleted attempt enters the next one of its name; nothing of one attempt enters another. */
export function checkSuccessors({ incarnations, worker }: Evidence): Violation[] {
  return incarnations.flatMap(({ attempt, generation, latest }) => {
    const own = `${attempt}/${generation}/`;
    const calls = latest === null ? [] : [...latest.attempted, ...latest.refused.map(({ callId }) => callId)];
    return calls.flatMap((callId): Violation[] => {
      const foreign = worker.conversations.get(callId)?.tags.find((tag) => !tag.startsWith(own));
      if (foreign === undefined) return [];
      const detail = `in life ${generation} of the name stands a call that says {${foreign}}`;
      return [{ invariant: 6, rule: 'no call of a deleted attempt in its successor', attempt, callId, detail }];
    });
  });
}
