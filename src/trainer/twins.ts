import type { CallRecord } from '../protocol/wire/ledger.ts';

/** Calls with the same tokens, prompt and generated, are twins (protocol section 3): for training one is as good as the other. */
export function areTwins(a: CallRecord, b: CallRecord): boolean {
  return a.cum_len === b.cum_len && a.cumulative_hash === b.cumulative_hash;
}

/** The first of the calls if all are one call or its twins; undefined if there is none, or if they differ in tokens. */
export function oneOfTwins<T extends CallRecord>(records: readonly T[]): T | undefined {
  const [first] = records;
  return first !== undefined && records.every((record) => areTwins(record, first)) ? first : undefined;
}
