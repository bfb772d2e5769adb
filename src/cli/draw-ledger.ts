import { CallNames } from '../trainer/explain/call-names.ts';
import { drawForest } from '../trainer/explain/draw-forest.ts';
import { drawLoose, verdict } from '../trainer/explain/explain-rollout.ts';
import { table } from '../trainer/explain/table.ts';
import type { LedgerView } from '../trainer/ledger-view.ts';

/** A ledger for a person at a terminal: state and counts, the call forest, what no record places in it, and in words why each root is a root. */
export function drawLedger(ledger: LedgerView): string[] {
  const names = new CallNames(ledger);
  const lines = [`attempt ${ledger.attempt}: ${ledger.state ?? 'unknown'}, ${verdict(ledger)}`];
  if (ledger.records.length > 0) lines.push('', ...drawForest(ledger, null, names));
  lines.push(...drawLoose(ledger, names));
  const legend = names.legend();
  if (legend.length > 0) lines.push('', ...table(legend.map(([name, id]) => [`${name} = ${id}`])));
  const roots = rootLines(ledger, names);
  return roots.length === 0 ? lines : [...lines, '', 'roots:', ...roots];
}

/** Why each root is a root, in words, a line each. */
export function rootLines(ledger: LedgerView, names: CallNames): string[] {
  return Object.entries(ledger.whyRoot).map(([callId, why]) => {
    const { explanation } = why as { explanation?: unknown };
    return `  ${names.of(callId)}: ${why.cause}${typeof explanation === 'string' ? `. ${names.in(explanation)}` : ''}`;
  });
}
