/** @import { CallRow } from '../pages.ts' */

/**
 * @typedef {object} PlacedCall
 * @property {CallRow} call
 * @property {number} number in commit order, from 1
 * @property {number} column
 * @property {number | null} parentColumn null for a root
 * @property {readonly number[]} passing columns of the lines that pass this row on their way to a later one
 * @property {boolean} hasChildren
 */

/**
 * The forest as rows from top to bottom: each root with all that continues it. A chain goes straight down; of siblings the one with the most calls below
 * it (of equals the latest) stays in the column and comes last, the others branch off to the right. So even a forest of many thousand calls has few columns.
 * @param {readonly CallRow[]} calls in commit order: a parent stands before its children
 * @returns {PlacedCall[]}
 */
export function placeCalls(calls) {
  const numberOf = new Map(calls.map((call, at) => [call.model_call_id, at]));
  /** @type {number[][]} */
  const children = calls.map(() => []);
  /** @type {number[]} */
  const roots = [];
  calls.forEach((call, at) => {
    const parent = call.parent_call_id === null ? undefined : numberOf.get(call.parent_call_id);
    const siblings = parent === undefined ? roots : children[parent];
    siblings?.push(at);
  });
  const sizes = subtreeSizes(children);

  /** @type {PlacedCall[]} */
  const placed = [];
  /** @type {{ at: number, column: number, parentColumn: number | null, passing: readonly number[] }[]} */
  const stack = roots.map((at) => ({ at, column: 0, parentColumn: null, passing: [] })).reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { at, column, parentColumn, passing } = next;
    const own = children[at] ?? [];
    const call = /** @type {CallRow} */ (calls[at]);
    placed.push({ call, number: at + 1, column, parentColumn, passing, hasChildren: own.length > 0 });
    const main = heaviest(own, sizes);
    if (main === null) continue;
    const aside = { column: column + 1, parentColumn: column, passing: [...passing, column] };
    stack.push({ at: main, column, parentColumn: column, passing });
    for (const side of own.filter((child) => child !== main).reverse()) stack.push({ at: side, ...aside });
  }
  return placed;
}

/**
 * Number of calls in the tree below each call, itself included.
 * @param {readonly (readonly number[])[]} children a child has a higher index than its parent
 * @returns {number[]}
 */
function subtreeSizes(children) {
  /** @type {number[]} */
  const sizes = [];
  for (let at = children.length - 1; at >= 0; at--) {
    sizes[at] = (children[at] ?? []).reduce((sum, child) => sum + sizeOf(sizes, child), 1);
  }
  return sizes;
}

/**
 * @param {readonly number[]} children
 * @param {readonly number[]} sizes
 * @returns {number | null}
 */
function heaviest(children, sizes) {
  /** @type {number | null} */
  let best = null;
  for (const child of children) if (best === null || sizeOf(sizes, child) >= sizeOf(sizes, best)) best = child;
  return best;
}

/**
 * @param {readonly number[]} sizes
 * @param {number} at
 */
function sizeOf(sizes, at) {
  return sizes[at] ?? 0;
}
