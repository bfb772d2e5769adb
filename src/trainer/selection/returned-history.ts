import type { CallRecordV3 } from '../../protocol/wire/ledger.ts';
import type { LedgerView } from '../ledger-view.ts';
import { type Checked, ok, reason, refused } from '../reasons.ts';
import type { CallReference, Envelope, HarnessResult } from '../result.ts';
import { returnedParts } from '../returned-items.ts';
import type { Placed } from './calls-at.ts';
import { type HistoryIndex, indexHistory } from './history-index.ts';
import { matchHistory } from './match-history.ts';
import { matchReferences } from './match-references.ts';
import { recordOfResponse, type Selection, type SelectionPolicy } from './selection.ts';

/**
 * `returned_history` (protocol section 11, the default): the selected calls are those of which the agent returned the output. Commit order
 * plays no part. Schema 3 only, since records of schema 2 have no output items.
 */
export const returnedHistory: SelectionPolicy = { name: 'returned_history', select: selectReturnedHistory };

/** See {@link returnedHistory}. */
export function selectReturnedHistory(ledger: LedgerView, result: HarnessResult): Checked<Selection> {
  const records = ledger.records.filter((record) => record.schema_version === 3);
  if (ledger.schemaVersion !== 3) {
    const message = 'returned_history needs the output items of schema 3; for schema 2 use declared';
    return refused(reason('policy_unsupported', message));
  }
  const referenced = resolveReferences(result.references, records);
  if (!referenced.ok) return referenced;
  const scored =
    result.terminalResponseId === null
      ? null
      : recordOfResponse(records, result.terminalResponseId, 'terminal_response_id');
  if (scored?.ok === false) return scored;
  const required = scored === null ? [] : [scored.value as CallRecordV3];

  const placed = placeForms(result, records, referenced.value, required);
  if (!placed.ok) return placed;
  return select(placed.value, scored?.value ?? null);
}

function select(placed: readonly Placed[], declared: CallRecordV3 | Selection['scored']): Checked<Selection> {
  const calls = placed.map(({ record }) => record);
  const last = calls.at(-1);
  if (last === undefined)
    return refused(reason('nothing_selected', 'the returned history holds no output of any captured call'));
  if (declared !== null && !calls.includes(declared as CallRecordV3)) {
    const callId = declared.model_call_id;
    return refused(
      reason('scored_call_not_selected', `the scored call ${callId} is not in the returned history`, { callId }),
    );
  }
  return ok({
    policy: returnedHistory.name,
    calls,
    scored: declared ?? last,
    scoredBy: declared === null ? 'it ends the returned history' : 'terminal_response_id names it',
    matches: placed
      .filter(({ from, to }) => to > from)
      .map(({ record, from, to }) => ({ callId: record.model_call_id, from, to })),
  });
}

/** Places the calls by `responses` or `response`, and by the references; forms that are given together must agree. */
function placeForms(
  result: HarnessResult,
  records: readonly CallRecordV3[],
  references: readonly CallRecordV3[] | null,
  required: readonly CallRecordV3[],
): Checked<readonly Placed[]> {
  const { response, responses } = result;
  const place = (envelopes: readonly Envelope[]) => placeEnvelopes(envelopes, records, references, required);
  if (responses === null) return place(response === null ? [] : [response]);
  const placed = place(responses);
  if (!placed.ok || response === null) return placed;
  // A single response beside the list is either the whole history again or the last of the list.
  const single = placeEnvelopes(
    [response],
    records,
    null,
    placed.value.map(({ record }) => record),
  );
  if (!single.ok) return single;
  const ids = (calls: readonly Placed[]) => calls.map(({ record }) => record.model_call_id).join(' ');
  const tail = placed.value.slice(Math.max(0, placed.value.length - single.value.length));
  const isLast = response.id !== null && response.id === responses.at(-1)?.id;
  if (ids(single.value) === ids(placed.value) || (isLast && ids(single.value) === ids(tail))) return placed;
  const message = `response holds the calls ${ids(single.value)}, and responses hold ${ids(placed.value)}`;
  return refused(reason('forms_disagree', message));
}

function placeEnvelopes(
  envelopes: readonly Envelope[],
  records: readonly CallRecordV3[],
  references: readonly CallRecordV3[] | null,
  required: readonly CallRecordV3[],
): Checked<readonly Placed[]> {
  const parts = returnedParts(envelopes);
  if (!parts.ok) return parts;
  const index = indexHistory(parts.value, records, required);
  if (!index.ok) return index;
  if (references !== null) return matchReferences(index.value, references);
  const matched = matchHistory(index.value);
  return matched.ok ? withSilentCalls(index.value, matched.value) : matched;
}

/**
 * Puts the calls without output at their place: those that a response id names, and those of returned turns that say nothing. Such a turn is the one call without output
 * that continues the call before it; a turn that no call can have been, the agent has written itself.
 */
function withSilentCalls(index: HistoryIndex, placed: readonly Placed[]): Checked<readonly Placed[]> {
  const named = index.silentCalls.map(({ record, at }) => ({ record, from: at, to: at }));
  const calls = [...placed, ...named].sort((a, b) => a.to - b.to);
  const taken = new Set(calls.map(({ record }) => record));
  const unnamed = new Set(named.map(({ to }) => to));
  for (const { at, itemIndex, path } of index.silentTurns) {
    // The turn of a call that its envelope names.
    if (unnamed.delete(at)) continue;
    const next = calls.findIndex(({ to }) => to > at);
    const place = next < 0 ? calls.length : next;
    const parent = calls[place - 1]?.record.model_call_id ?? null;
    const candidates = index.records.filter(
      (record) => record.output_items?.length === 0 && record.parent_call_id === parent && !taken.has(record),
    );
    const [record, other] = candidates;
    if (record === undefined) continue;
    if (other !== undefined) {
      const names = `${record.model_call_id} and ${other.model_call_id}`;
      const message = `${path} says nothing and matches two calls, ${names}, and no id or reference settles which`;
      return refused(reason('item_ambiguous', message, { itemIndex }));
    }
    taken.add(record);
    calls.splice(place, 0, { record, from: at, to: at });
  }
  return ok(calls);
}

function resolveReferences(
  references: readonly CallReference[] | null,
  records: readonly CallRecordV3[],
): Checked<readonly CallRecordV3[] | null> {
  if (references === null) return ok(null);
  const resolved = new Set<CallRecordV3>();
  const byId = new Map(records.map((record) => [record.model_call_id, record]));
  for (const { path, responseId, callId } of references) {
    const byCall = callId === null ? undefined : byId.get(callId);
    if (callId !== null && byCall === undefined) {
      return refused(reason('unknown_reference', `${path}.model_call_id (${callId}) names no captured call`));
    }
    const byResponse = responseId === null ? null : recordOfResponse(records, responseId, `${path}.response_id`);
    if (byResponse?.ok === false) return byResponse;
    const record = byCall ?? (byResponse?.value as CallRecordV3);
    if (byResponse !== null && byResponse.value !== record) {
      const message = `${path}: response_id and model_call_id name different calls, ${byResponse.value.model_call_id} and ${callId}`;
      return refused(reason('forms_disagree', message));
    }
    if (resolved.has(record)) {
      return refused(
        reason('call_reused', `${path} names call ${record.model_call_id} a second time`, {
          callId: record.model_call_id,
        }),
      );
    }
    resolved.add(record);
  }
  return ok([...resolved]);
}
