/**
 * Why a rollout, or a group, gives no loss: the one catalogue of reason codes (protocol section 11). Codes are counted and printed, never
 * repurposed; docs/trainer.md lists them with the same words.
 */
export const REASONS = {
  ledger_malformed:
    'the ledger is not one of the protocol: a field is missing, unknown or of the wrong type, or a call stands in it twice',
  foreign_owner: 'the ledger, a staging key or a staged record belongs to another attempt',
  no_records: 'the ledger holds no committed call',
  pending_calls: 'a call was sent to a worker and its outcome is not known: tokens may exist that no record names',
  lost_evidence: 'the ledger has a failure row, or an attempted call of which nothing is left',
  result_malformed: 'the result of the harness does not have the shape of the protocol',
  reward_missing: 'the result has no finite number as its reward',

  item_unmatched: 'an authored item of the returned output is no part of any captured call that could stand there',
  item_ambiguous:
    'an authored item of the returned output matches more than one captured call, and nothing settles which',
  item_contradicts_id: 'an item carries the id of a captured call, but not its content, or ids contradict each other',
  item_unsupported: 'the returned output holds a generated item of a type that no captured call can have',
  item_unfingerprintable:
    'an item cannot be fingerprinted (a number that the protocol cannot write, a part without type)',
  item_without_id: 'transition snapshots are united by item id, and an authored item has none',
  call_reused: 'the returned output holds the same item or the same call twice',
  unknown_reference: 'a response id or call id names no captured call, or more than one',
  partial_references: 'some turns of the trajectory name their model calls and others do not',
  forms_disagree: 'two forms of the returned history name different calls',
  nothing_selected: 'the returned history holds no captured call',
  scored_call_unknown: 'nothing says which call was scored',
  scored_call_not_selected: 'the scored call is not among the selected ones',
  ambiguous_terminal: 'the terminal call is not declared, and witnesses or the forest leave more than one',
  policy_invalid:
    'the selection policy returned something other than unchanged, unique records of this ledger and a terminal response id',
  policy_unsupported: 'the selection policy needs what records of this schema version do not have',

  selection_not_closed: 'a selected continuation whose parent, or a twin of it, is not selected',
  missing_completion_metadata:
    'a selected call whose status is not completed, incomplete with a finish reason, or failed',
  logical_execution_failure: 'a selected call that failed',
  staging_key_mismatch: 'a staging key that is not <owner>/<call>',

  staged_missing: 'TransferQueue holds nothing under the key of a selected call',
  staged_malformed: 'a staged record that is none: a field is missing or of the wrong type',
  call_id_mismatch: 'record and staged record name different calls',
  version_mismatch:
    'record and staged record differ in schema or digest versions, or are of versions that are not known',
  parent_mismatch: 'record and staged record name different parents, or a parent that has no record',
  mode_mismatch: 'the mode is not the same in record and staged record, or not that of a root or a continuation',
  length_mismatch:
    'prev_len, delta_len, cum_len and the lists that they count do not agree, in the record or with the staged record',
  not_contiguous: 'a continuation that does not begin where its parent ends',
  weight_version_mismatch: 'record and staged record differ in the weight version',
  mask_invalid: 'the mask of a staged call is not zeros (new context) followed by at least one one (generated)',
  extras_digest_mismatch: 'the extras are not those that were committed to',
  media_span_invalid: 'media occurrences that are not exact, ordered and inside the new prompt tokens of their call',
  chain_hash_mismatch: 'the chain hash does not follow from the parent and the tokens of the call',
  cumulative_hash_mismatch: 'the cumulative hash is not that of all tokens up to the end of the call',
  digest_mismatch: 'the digest is not that of the staged call',

  sequence_error: 'the pooled sequence error is above the threshold',
  overlong: 'the rollout was cut for length, and overlong filtering is on',
  group_below_valid_fraction: 'too few rollouts of the prompt group are valid: the whole group is dropped',
  rewards_too_large: 'the rewards of the prompt group are too large to be compared: the whole group is dropped',
} as const satisfies Record<string, string>;

export type ReasonCode = keyof typeof REASONS;

/** One reason, with what it is about. `message` is a full sentence for a person; ids stand in it, content never does. */
export interface Reason {
  readonly code: ReasonCode;
  readonly message: string;
  readonly callId?: string;
  /** Index of the item in the returned output, over all its envelopes, that the reason is about. */
  readonly itemIndex?: number;
}

export function reason(code: ReasonCode, message: string, about: { callId?: string; itemIndex?: number } = {}): Reason {
  return { code, message, ...about };
}

/** How often each code stands in a list of reasons, in the order of the catalogue. */
export function countReasons(reasons: Iterable<Reason>): Map<ReasonCode, number> {
  const counts = new Map<ReasonCode, number>();
  for (const { code } of reasons) counts.set(code, (counts.get(code) ?? 0) + 1);
  const order = Object.keys(REASONS) as ReasonCode[];
  return new Map([...counts].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
}

/** A value, or the reasons why there is none. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reasons: readonly Reason[] };

export function ok<T>(value: T): Checked<T> {
  return { ok: true, value };
}

export function refused(...reasons: readonly Reason[]): { readonly ok: false; readonly reasons: readonly Reason[] } {
  return { ok: false, reasons };
}
