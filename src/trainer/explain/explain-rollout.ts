import type { LedgerView } from '../ledger-view.ts';
import { REASONS, type Reason } from '../reasons.ts';
import type { RolloutOutcome } from '../rollout.ts';
import type { Row } from '../rows.ts';
import type { Selection } from '../selection/selection.ts';
import { CallNames } from './call-names.ts';
import { drawForest } from './draw-forest.ts';
import { drawRow, MARKS_LEGEND } from './draw-row.ts';
import { count, table } from './table.ts';

/** What filtering left of a rollout's rows, and why; absent: the rows as they were made. */
export interface Filtered {
  readonly rows: readonly Row[];
  readonly reasons: readonly Reason[];
}

/** A rollout for a person at a terminal: its calls, what was selected and how, the rows, and in words why it is masked. One line per entry. */
export function explainRollout(outcome: RolloutOutcome, filtered: Filtered | null = null): string[] {
  const { ledger, selection } = outcome;
  const names = ledger === null ? null : new CallNames(ledger);
  const lines = [`attempt ${outcome.attempt}${ledger === null ? '' : `: ${verdict(ledger)}`}`];
  if (ledger !== null && names !== null) {
    lines.push('', ...drawForest(ledger, selection, names), ...drawLoose(ledger, names));
    const legend = names.legend();
    if (legend.length > 0) lines.push('', ...table(legend.map(([name, id]) => [`${name} = ${id}`])));
  }
  if (selection !== null && names !== null) lines.push('', ...drawSelection(selection, names));
  lines.push('');
  if (outcome.kind === 'masked')
    return [...lines, ...drawReasons('masked: no rows, and its reward leaves the baseline', outcome.reasons, names)];

  const { rows, reasons } = filtered ?? { rows: outcome.rows, reasons: [] };
  lines.push(
    `rows: ${rows.length}, reward ${outcome.reward}${outcome.truncated ? ', truncated' : ''}`,
    `  ${MARKS_LEGEND}`,
  );
  for (const row of rows) lines.push(...drawRow(row, names as CallNames).map((line) => `  ${line}`));
  if (reasons.length > 0) lines.push('', ...drawReasons('filtered: its rows carry no loss', reasons, names));
  return lines;
}

/** State and counts of a ledger. */
export function verdict(ledger: LedgerView): string {
  const counts = `${count(ledger.records.length, 'record')}, ${ledger.pendingCallIds.length} pending, ${count(ledger.failures.length, 'failure')}`;
  const refused = ledger.refusedCalls.length === 0 ? '' : `, ${ledger.refusedCalls.length} refused`;
  const open = ledger.state === 'open' ? ' (still open: more calls may come; close it first)' : '';
  return `${counts}${refused}${open}`;
}

/** Calls that no record places in the forest. */
export function drawLoose(ledger: LedgerView, names: CallNames): string[] {
  const pending = ledger.pendingCallIds.map((callId) => `${names.of(callId)}  pending`);
  const failures = ledger.failures.map(
    ({ model_call_id: callId, reason }) => `${names.of(callId)}  failure: ${reason}`,
  );
  const refused = ledger.refusedCalls.map(({ model_call_id: callId, code }) => `${names.of(callId)}  refused: ${code}`);
  return [...pending, ...failures, ...refused];
}

function drawSelection(selection: Selection, names: CallNames): string[] {
  const calls = selection.calls.map((record) => names.of(record.model_call_id)).join(' ');
  const lines = [`selection (${selection.policy}): ${calls}`];
  if (selection.scored !== null)
    lines.push(`  scored: ${names.of(selection.scored.model_call_id)}, ${selection.scoredBy}`);
  if (selection.matches.length > 0) {
    const matches = selection.matches.map(
      ({ callId, from, to }) => `${to - from === 1 ? from : `${from}-${to - 1}`} ${names.of(callId)}`,
    );
    lines.push(`  authored items of the returned history: ${matches.join(', ')}`);
  }
  return lines;
}

function drawReasons(head: string, reasons: readonly Reason[], names: CallNames | null): string[] {
  const lines = reasons.flatMap(({ code, message }) => [
    `  ${code}: ${names === null ? message : names.in(message)}`,
    `      ${REASONS[code]}`,
  ]);
  return [head, ...lines];
}
