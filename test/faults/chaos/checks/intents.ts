import type { Evidence, Incarnation, Reading, Violation } from '../evidence.ts';

/** Between the worker's clock and the load's, and for what was on its way. */
const MARGIN_MS = 100;

/** Refusals after which the worker may have seen the call: it refused it itself. */
const REFUSED_BY_WORKER: ReadonlySet<string> = new Set(['context_length_exceeded']);

/**
 * Invariant 1, first half, and 5: whatever the worker has admitted has an intent, and was sent once. An intent is missing for certain where the attempt was closed
 * (none can have been added since), or read after the worker had the call.
 */
export function checkIntents({ incarnations, worker }: Evidence): Violation[] {
  const lives = new Map(incarnations.map((one) => [`${one.attempt}/${one.generation}`, one]));
  const violations: Violation[] = [];
  for (const [callId, admissions] of worker.admitted) {
    const { attempt, atMs } = admissions[0] as (typeof admissions)[number];
    const broken = (invariant: number, rule: string, detail: string) =>
      violations.push({ invariant, rule, attempt, callId, detail });
    if (admissions.length > 1)
      broken(1, 'a captured request is sent at most once', `the worker got it ${admissions.length} times`);
    const tag = worker.conversations.get(callId)?.tags.at(-1);
    const life = tag === undefined ? undefined : lives.get(tag.slice(0, tag.lastIndexOf('/')));
    if (life?.latest == null) continue;
    const place = placeOf(life.latest, callId);
    if (place === 'attempted' || (place !== null && REFUSED_BY_WORKER.has(place.code))) continue;
    if (place !== null) {
      broken(
        1,
        'a call that was refused before inference never ran',
        `refused as ${place.code}, and the worker had it`,
      );
    } else if (isOverdue(life, atMs)) {
      const rule =
        life.closed === null ? 'no inference without a durable intent' : 'no intent, and no inference, after close';
      broken(life.closed === null ? 1 : 5, rule, 'the worker admitted it, and the ledger does not know it');
    }
  }
  return violations;
}

function placeOf(reading: Reading, callId: string): 'attempted' | { readonly code: string } | null {
  if (reading.attempted.includes(callId)) return 'attempted';
  return reading.refused.find((row) => row.callId === callId) ?? null;
}

function isOverdue({ closed, latest }: Incarnation, atMs: number): boolean {
  return closed !== null || (latest !== null && latest.startedMs > atMs + MARGIN_MS);
}
