import type { CallRecord } from '../../protocol/wire/ledger.ts';
import type { LedgerView } from '../ledger-view.ts';
import { type Checked, ok, reason, refused } from '../reasons.ts';
import type { HarnessResult } from '../result.ts';
import { recordOfResponse, type Selection, type SelectionPolicy } from './selection.ts';
import { askWitnesses } from './witnesses.ts';

/**
 * `declared` (protocol section 13, the default for schema 2): one terminal call and its ancestry, hence one row. The terminal is the one that
 * `terminal_response_id` names; else the one that the witnesses agree on; without a witness the one that the forest leaves.
 */
export const declared: SelectionPolicy = { name: 'declared', select: selectDeclared };

/** See {@link declared}. */
export function selectDeclared(ledger: LedgerView, result: HarnessResult): Checked<Selection> {
  const terminal = findTerminal(ledger, result);
  if (!terminal.ok) return terminal;
  const { record, by } = terminal.value;
  return ok({ policy: declared.name, calls: ancestry(ledger, record), scored: record, scoredBy: by, matches: [] });
}

interface Terminal {
  readonly record: CallRecord;
  readonly by: string;
}

function findTerminal(ledger: LedgerView, result: HarnessResult): Checked<Terminal> {
  if (result.terminalResponseId !== null) {
    const named = recordOfResponse(ledger.records, result.terminalResponseId, 'terminal_response_id');
    return named.ok ? ok({ record: named.value, by: 'terminal_response_id names it' }) : named;
  }
  const attribution = askWitnesses(ledger, result);
  switch (attribution.kind) {
    case 'agreed':
      return ok({ record: attribution.record, by: `${attribution.by} says so` });
    case 'contradicted':
      return refused(reason('ambiguous_terminal', attribution.message));
    case 'none':
      return terminalOfForest(ledger);
    default:
      return attribution satisfies never;
  }
}

/** Roots with children before roots without, then the earliest admitted; at each level the only child, or the only child that has children. */
function terminalOfForest({ records }: LedgerView): Checked<Terminal> {
  const children = Map.groupBy(records, (record) => record.parent_call_id);
  const hasChildren = (record: CallRecord) => children.has(record.model_call_id);
  const preferred = (pool: readonly CallRecord[]) => (pool.some(hasChildren) ? pool.filter(hasChildren) : pool);

  const roots = preferred(children.get(null) ?? []);
  let record = roots.reduce<CallRecord | undefined>((earliest, root) => {
    return earliest === undefined || root.admitted_at < earliest.admitted_at ? root : earliest;
  }, undefined);
  if (record === undefined)
    return refused(reason('no_records', 'no recorded call is a root, so that there is no terminal call'));
  for (;;) {
    const next = preferred(children.get(record.model_call_id) ?? []);
    const [only] = next;
    if (only === undefined) return ok({ record, by: 'no witness names a call; the forest leaves this one' });
    if (next.length > 1) {
      const names = next.map((call) => call.model_call_id).join(', ');
      const message = `nothing declares the terminal call, and after call ${record.model_call_id} it may be any of ${names}`;
      return refused(reason('ambiguous_terminal', message, { callId: record.model_call_id }));
    }
    record = only;
  }
}

/** Root first. A parent without a record ends the walk; the guards refuse what that leaves. */
export function ancestry({ records }: LedgerView, terminal: CallRecord): CallRecord[] {
  const byId = new Map(records.map((record) => [record.model_call_id, record]));
  const line = new Set<CallRecord>();
  let record: CallRecord | undefined = terminal;
  while (record !== undefined && !line.has(record)) {
    line.add(record);
    record = record.parent_call_id === null ? undefined : byId.get(record.parent_call_id);
  }
  return [...line].reverse();
}
