import type { TrainingRow, UnweightedRow } from '../training-row.ts';

/** A row's line up to its advantage, which waits for the rest of the group. */
export function rowHead(row: UnweightedRow): string {
  const { truncated: _, padding: __, ...head } = row;
  return JSON.stringify(head).slice(0, -1);
}

/** The rest of the line, with its end. */
export function rowTail(advantage: number, truncated: boolean, padding: boolean): string {
  return `,"advantage":${JSON.stringify(advantage)},"truncated":${truncated},"padding":${padding}}\n`;
}

/** A whole line. Members stand in the order of {@link TrainingRow}. */
export function rowLine({ advantage, ...row }: TrainingRow): string {
  return rowHead(row) + rowTail(advantage, row.truncated, row.padding);
}
