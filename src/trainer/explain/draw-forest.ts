import type { CallRecord } from '../../protocol/wire/ledger.ts';
import type { LedgerView } from '../ledger-view.ts';
import type { Selection } from '../selection/selection.ts';
import type { CallNames } from './call-names.ts';
import { table } from './table.ts';

/** The captured calls as a tree, with lengths, how each ended, and its place in the selection. */
export function drawForest(ledger: LedgerView, selection: Selection | null, names: CallNames): string[] {
  const children = Map.groupBy(ledger.records, (record) => record.parent_call_id);
  const known = new Set(ledger.records.map((record) => record.model_call_id));
  const places = new Map(selection?.calls.map((record, at) => [record, at + 1]));
  const rows: (string | number)[][] = [['call', 'prev', 'delta', 'cum', 'ended', 'selected', '']];
  const isRoot = ({ parent_call_id: parent }: CallRecord) => parent === null || !known.has(parent);
  // A stack, not recursion: a chain may be thousands of calls long. A chain goes straight down, only siblings are indented.
  const stack = ledger.records
    .filter(isRoot)
    .map((record) => ({ record, lead: '', branch: '' }))
    .reverse();
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { record, lead, branch } = entry;
    const place = places.get(record);
    const selected = selection === null ? '' : place === undefined ? 'no' : `${place}.`;
    const { prev_len: prev, delta_len: delta, cum_len: cum } = record;
    rows.push([
      `${lead}${branch}${names.of(record.model_call_id)}`,
      prev,
      delta,
      cum,
      ending(record),
      selected,
      why(ledger, record, names),
    ]);
    const next = children.get(record.model_call_id) ?? [];
    const below = lead + (branch === '' ? '' : branch.startsWith('├') ? '│ ' : '  ');
    const entries = next.map((child, at) => {
      if (next.length === 1) return { record: child, lead: below, branch: '' };
      return { record: child, lead: below, branch: at === next.length - 1 ? '└─' : '├─' };
    });
    stack.push(...entries.reverse());
  }
  return table(rows);
}

function ending(record: CallRecord): string {
  if (record.schema_version === 2) return 'not recorded';
  const { response_status: status, finish_reason: finish } = record;
  if (status === 'completed') return status;
  return `${status ?? 'unknown'}${finish === null ? '' : ` (${finish})`}`;
}

function why(ledger: LedgerView, record: CallRecord, names: CallNames): string {
  const { parent_call_id: parent } = record;
  if (parent !== null) return `continues ${names.of(parent)}`;
  const cause = ledger.whyRoot[record.model_call_id]?.cause;
  return cause === undefined ? 'root' : `root: ${cause}`;
}
