import type { CallRecord } from '../protocol/wire/ledger.ts';

const LENGTH_REASONS: ReadonlySet<string> = new Set(['length', 'max_tokens', 'max_output_tokens']);

/** Whether a finish reason, in any dialect, means that the answer was cut for length. */
export function isLengthReason(finishReason: string | null): boolean {
  return finishReason !== null && LENGTH_REASONS.has(finishReason);
}

/** A call that was cut for length. Records of schema 2 do not say. */
export function isLengthLimited(record: CallRecord): boolean {
  return record.schema_version === 3 && isLengthReason(record.finish_reason);
}
