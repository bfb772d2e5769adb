import type { Ledger } from '../ledger/ledger.ts';
import type { CallRecord, WhyRoot } from '../protocol/wire/ledger.ts';
import type { CallRow, CallsPage, CallsQuery } from './pages.ts';

/** Calls without a record that one page names; their number stands in `counts`. */
const MOST_LISTED = 1000;

/**
 * One page of an attempt's recorded calls in commit order, and what is pending, failed or refused at this moment. An unknown attempt is open and empty.
 * Of the records only the asked ones are read and parsed, so that a page of a long ledger stays cheap. Throws LedgerUnavailable.
 */
export async function listCalls(
  ledger: Pick<Ledger, 'snapshot' | 'records'>,
  attempt: string,
  query: CallsQuery,
): Promise<CallsPage | 'retired'> {
  const snapshot = await ledger.snapshot(attempt);
  if (snapshot === 'retired') return 'retired';
  const { state, recordCount, pendingCallIds, failures, refused } = snapshot;
  const wanted = Math.min(query.limit, recordCount - query.from);
  const texts = wanted > 0 ? await ledger.records(attempt, query.from, wanted) : [];
  const read = query.from + texts.length;
  const whyRoot = new Map(snapshot.whyRoot.map(({ callId, json }) => [callId, json]));
  return {
    attempt,
    state,
    complete: state === 'closed' && pendingCallIds.length === 0,
    counts: {
      records: recordCount,
      pending: pendingCallIds.length,
      failures: failures.length,
      refused: refused.length,
    },
    from: query.from,
    calls: texts.map((text) => callRow(JSON.parse(text) as CallRecord, whyRoot)),
    next: read < recordCount && texts.length > 0 ? read : null,
    pending: pendingCallIds.slice(0, MOST_LISTED),
    failures: failures.slice(0, MOST_LISTED).map(({ callId, reason }) => ({ model_call_id: callId, reason })),
    refused: refused.slice(0, MOST_LISTED).map(({ callId, code }) => ({ model_call_id: callId, code })),
  };
}

/** Not every generation's records say how a call ended. */
function callRow(record: CallRecord, whyRoot: ReadonlyMap<string, string>): CallRow {
  const why = record.parent_call_id === null ? whyRoot.get(record.model_call_id) : undefined;
  return {
    model_call_id: record.model_call_id,
    parent_call_id: record.parent_call_id,
    prev_len: record.prev_len,
    delta_len: record.delta_len,
    cum_len: record.cum_len,
    weight_version: record.weight_version,
    response_status: 'response_status' in record ? record.response_status : null,
    finish_reason: 'finish_reason' in record ? record.finish_reason : null,
    admitted_at: record.admitted_at,
    ...(why === undefined ? {} : { why_root: JSON.parse(why) as WhyRoot }),
  };
}
