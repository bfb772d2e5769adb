import type { CallRecord } from '../protocol/wire/ledger.ts';
import type { LedgerView } from './ledger-view.ts';
import { type Checked, ok, type Reason, reason, refused } from './reasons.ts';
import { areTwins } from './twins.ts';

/** A selected call in the forest that the selected calls make. */
export interface ForestNode {
  readonly record: CallRecord;
  /** Place in the selection. */
  readonly position: number;
  /** The selected call that this one continues: its parent, or a twin of it. Null for a root. */
  readonly parent: ForestNode | null;
  /** The stored parent, whose hash the call's own chain hash follows from; with a twin in its place not the one above. */
  readonly storedParent: CallRecord | null;
}

/** One row to be: the calls from a root to an endpoint. */
export interface RowPath {
  readonly nodes: readonly ForestNode[];
  /** The nodes whose generated tokens carry loss in this row, since it is the first that holds them. */
  readonly withLoss: ReadonlySet<ForestNode>;
}

export interface Forest {
  /** In the order of the selection. */
  readonly nodes: readonly ForestNode[];
  readonly rows: readonly RowPath[];
}

/**
 * Builds the forest and its rows (protocol section 11). A selected continuation whose parent, or a twin of it, is not selected is
 * `selection_not_closed`. Lengths must have been verified: a child then ends behind its parent, so that there is no cycle.
 */
export function buildForest(ledger: LedgerView, selected: readonly CallRecord[]): Checked<Forest> {
  const byId = new Map(ledger.records.map((record) => [record.model_call_id, record]));
  const positions = new Map(selected.map((record, position) => [record, position]));
  const nodes = new Map<CallRecord, ForestNode>();
  const reasons: Reason[] = [];

  // Shorter calls first: a parent's node exists before its children's.
  for (const record of [...selected].sort((a, b) => a.cum_len - b.cum_len)) {
    const position = positions.get(record) as number;
    if (record.parent_call_id === null) {
      nodes.set(record, { record, position, parent: null, storedParent: null });
      continue;
    }
    const stored = byId.get(record.parent_call_id);
    const standIn = stored === undefined ? undefined : findStandIn(stored, selected, positions);
    if (stored === undefined || standIn === undefined) {
      reasons.push(notClosed(record, stored));
      continue;
    }
    // A selected parent without a node was refused itself, and what hangs on it is not refused again.
    const parent = nodes.get(standIn);
    if (parent !== undefined) nodes.set(record, { record, position, parent, storedParent: stored });
  }
  if (reasons.length > 0) return refused(...reasons);
  const ordered = [...nodes.values()].sort((a, b) => a.position - b.position);
  return ok({ nodes: ordered, rows: planRows(ordered) });
}

/** The parent itself where it is selected, else the first selected twin of it. */
function findStandIn(
  stored: CallRecord,
  selected: readonly CallRecord[],
  positions: ReadonlyMap<CallRecord, number>,
): CallRecord | undefined {
  return positions.has(stored) ? stored : selected.find((other) => areTwins(other, stored));
}

function notClosed(record: CallRecord, stored: CallRecord | undefined): Reason {
  const { model_call_id: callId, parent_call_id: parentId } = record;
  const why = stored === undefined ? 'has no record' : 'is not selected, nor is a twin of it';
  return reason('selection_not_closed', `selected call ${callId} continues call ${parentId}, which ${why}`, { callId });
}

/** One path per call without a selected child, sorted by the place of its root, then of its endpoint. */
function planRows(nodes: readonly ForestNode[]): RowPath[] {
  const parents = new Set(nodes.map(({ parent }) => parent));
  const paths = nodes.filter((node) => !parents.has(node)).map(pathTo);
  const root = (path: readonly ForestNode[]) => path[0]?.position as number;
  const endpoint = (path: readonly ForestNode[]) => path.at(-1)?.position as number;
  paths.sort((a, b) => root(a) - root(b) || endpoint(a) - endpoint(b));
  const seen = new Set<ForestNode>();
  return paths.map((path) => {
    const withLoss = new Set(path.filter((node) => !seen.has(node)));
    for (const node of path) seen.add(node);
    return { nodes: path, withLoss };
  });
}

function pathTo(endpoint: ForestNode): ForestNode[] {
  const path: ForestNode[] = [];
  for (let node: ForestNode | null = endpoint; node !== null; node = node.parent) path.push(node);
  return path.reverse();
}
