import fc from 'fast-check';

/** Random values, others in every run, with the seed that makes them again. */
export function samplesOf<T>(arbitrary: fc.Arbitrary<T>, count: number): { values: T[]; seed: number } {
  const seed = Date.now() & 0x7fff_ffff;
  return { values: fc.sample(arbitrary, { numRuns: count, seed }), seed };
}
