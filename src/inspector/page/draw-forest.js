/** @import { CallRow, CallsPage } from '../pages.ts' */
/** @import { PlacedCall } from './forest-layout.js' */
import { element, momentCell, shape, table } from './elements.js';
import { placeCalls } from './forest-layout.js';

const COLUMN_PX = 14;
/** Where a call's mark stands in its row. */
const MARK_PX = 14;

/** @type {readonly (readonly [string, string])[]} */
const COLUMNS = [
  ['', ''],
  ['Call', 'call'],
  ['Prev', 'number'],
  ['Delta', 'number'],
  ['Total', 'number'],
  ['Weights', 'number'],
  ['Admitted', ''],
  ['Ended', ''],
  ['Root or continuation', 'why'],
];

/**
 * The forest of the recorded calls, and below it the calls without a record.
 * @param {CallsPage} head the newest page
 * @param {readonly CallRow[]} calls all recorded calls that were read, in commit order
 * @param {number} most rows that are drawn
 * @returns {{ drawn: HTMLElement[], left: number }} `left`: rows that were not drawn
 */
export function drawForest(head, calls, most) {
  const numbers = new Map(calls.map((call, at) => [call.model_call_id, at + 1]));
  /** @type {Map<string, string[]>} */
  const failures = new Map();
  for (const { model_call_id, reason } of head.failures) {
    failures.set(model_call_id, [...(failures.get(model_call_id) ?? []), reason]);
  }
  const placed = placeCalls(calls);
  const width = (placed.reduce((widest, { column }) => Math.max(widest, column), 0) + 1) * COLUMN_PX + 4;
  const rows = placed.slice(0, most).map((entry) => callRow(entry, { width, numbers, failures }));
  const drawn = [];
  if (rows.length > 0) drawn.push(table(COLUMNS, rows, 'Recorded calls'));
  const others = unrecorded(head, numbers, failures);
  if (others !== null) drawn.push(others);
  return { drawn, left: placed.length - rows.length };
}

/** @typedef {{ width: number, numbers: ReadonlyMap<string, number>, failures: ReadonlyMap<string, string[]> }} Known */

/**
 * @param {PlacedCall} entry
 * @param {Known} known
 */
function callRow(entry, { width, numbers, failures }) {
  const { call, number } = entry;
  const reasons = failures.get(call.model_call_id) ?? [];
  const endedWell = call.response_status === 'completed' || call.response_status === null;
  const lines = element('td', { className: 'lines' }, gutter(entry, width, endedWell && reasons.length === 0));
  lines.style.minWidth = `${width}px`;
  return element(
    'tr',
    {},
    lines,
    callCell(call.model_call_id, number),
    element('td', { className: 'number', text: String(call.prev_len) }),
    element('td', { className: 'number', text: `+${call.delta_len}` }),
    element('td', { className: 'number', text: String(call.cum_len) }),
    element('td', { className: 'number', text: String(call.weight_version) }),
    momentCell(call.admitted_at),
    ended(call, reasons, endedWell),
    why(call, numbers),
  );
}

/**
 * @param {string} callId
 * @param {number | null} number
 */
function callCell(callId, number) {
  const id = element('code', { text: callId.slice(0, 8), title: callId });
  const cell = element('td', { className: 'call' }, id);
  if (number !== null) cell.prepend(element('span', { className: 'dim', text: `#${number} ` }));
  return cell;
}

/**
 * @param {CallRow} call
 * @param {readonly string[]} reasons
 * @param {boolean} endedWell
 */
function ended(call, reasons, endedWell) {
  const finish = call.finish_reason === null ? '' : ` (${call.finish_reason})`;
  const cell = element('td', {
    className: endedWell ? '' : 'bad',
    text: call.response_status === null ? 'recorded' : `${call.response_status}${endedWell ? '' : finish}`,
  });
  if (reasons.length > 0) cell.append(element('div', { className: 'bad', text: `failed: ${reasons.join(', ')}` }));
  return cell;
}

/**
 * @param {CallRow} call
 * @param {ReadonlyMap<string, number>} numbers
 */
function why(call, numbers) {
  if (call.parent_call_id !== null) {
    return element('td', { className: 'why dim', text: `continues ${nameOf(call.parent_call_id, numbers)}` });
  }
  const cell = element('td', { className: 'why' });
  const cause = call.why_root?.cause;
  const explanation = call.why_root?.explanation;
  cell.append(element('span', { className: 'cause', text: cause === undefined ? 'root' : `root: ${cause}` }));
  if (typeof explanation === 'string') {
    const named = explanation.replace(/[0-9a-f]{32}/g, (id) => nameOf(id, numbers));
    cell.append(element('div', { className: 'dim', text: named }));
  }
  return cell;
}

/**
 * @param {string} callId
 * @param {ReadonlyMap<string, number>} numbers
 */
function nameOf(callId, numbers) {
  const number = numbers.get(callId);
  return number === undefined ? callId.slice(0, 8) : `#${number}`;
}

/**
 * @param {PlacedCall} entry
 * @param {number} width
 * @param {boolean} endedWell
 */
function gutter({ column, parentColumn, passing, hasChildren, call }, width, endedWell) {
  const x = (/** @type {number} */ at) => at * COLUMN_PX + COLUMN_PX / 2 + 2;
  const svg = shape('svg', { width, 'aria-hidden': 'true' });
  for (const at of passing) svg.append(shape('line', { x1: x(at), y1: 0, x2: x(at), y2: '100%' }));
  if (parentColumn === column) svg.append(shape('line', { x1: x(column), y1: 0, x2: x(column), y2: MARK_PX }));
  else if (parentColumn !== null) {
    svg.append(shape('path', { d: `M ${x(parentColumn)} 0 Q ${x(parentColumn)} ${MARK_PX} ${x(column)} ${MARK_PX}` }));
  }
  if (hasChildren) svg.append(shape('line', { x1: x(column), y1: MARK_PX, x2: x(column), y2: '100%' }));
  const kinds = [call.parent_call_id === null ? 'root' : 'continuation', ...(endedWell ? [] : ['ended-badly'])];
  svg.append(shape('circle', { cx: x(column), cy: MARK_PX, r: 4, class: kinds.join(' ') }));
  return svg;
}

/**
 * What is pending, failed or refused, and has no record.
 * @param {CallsPage} head
 * @param {ReadonlyMap<string, number>} numbers
 * @param {ReadonlyMap<string, string[]>} failures
 */
function unrecorded(head, numbers, failures) {
  const pending = new Set(head.pending);
  const rows = [
    ...head.pending.map((id) => {
      const reasons = failures.get(id);
      return otherRow(id, 'wait', 'pending', reasons === undefined ? '' : `failed: ${reasons.join(', ')}`);
    }),
    ...[...failures]
      .filter(([id]) => !pending.has(id) && !numbers.has(id))
      .map(([id, reasons]) => otherRow(id, 'bad', 'failed', reasons.join(', '))),
    ...head.refused.map(({ model_call_id, code }) => otherRow(model_call_id, '', 'refused', code)),
  ];
  if (rows.length === 0) return null;
  /** @type {readonly (readonly [string, string])[]} */
  const columns = [
    ['Call', 'call'],
    ['State', ''],
    ['Reason', 'why'],
  ];
  return table(columns, rows, 'Calls without a record');
}

/**
 * @param {string} callId
 * @param {string} className
 * @param {string} state
 * @param {string} reason
 */
function otherRow(callId, className, state, reason) {
  return element(
    'tr',
    {},
    callCell(callId, null),
    element('td', { className, text: state }),
    element('td', { text: reason }),
  );
}
