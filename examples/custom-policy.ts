/**
 * A selection policy of one's own: train only on what came after the agent's last compaction, that is on the line from the last root to the scored call.
 * For agents whose earlier contexts were only preparation.
 *
 *     gym-model-proxy rows --ledger ... --staged ... --result ... --policy ./examples/custom-policy.ts:lastContext
 */

/** What the policy needs of a record; the kit hands over whole records. */
export interface PolicyRecord {
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly response_id: string;
}

export interface PolicyResult {
  readonly response?: { readonly id?: string };
  readonly terminal_response_id?: string;
}

/** Gives the selected records, unchanged and in the order of the history, and the response id of the scored call. */
export function lastContext(records: readonly PolicyRecord[], result: PolicyResult) {
  const scoredId = result.terminal_response_id ?? result.response?.id;
  const byId = new Map(records.map((record) => [record.model_call_id, record]));
  const line: PolicyRecord[] = [];
  let record = records.find(({ response_id }) => response_id === scoredId);
  if (record === undefined) throw new Error(`no captured call has the response id ${scoredId}`);
  const terminalResponseId = record.response_id;
  while (record !== undefined) {
    line.unshift(record);
    record = record.parent_call_id === null ? undefined : byId.get(record.parent_call_id);
  }
  return { selected: line, terminalResponseId };
}
