/** Cells in columns: the first left-aligned, numbers right-aligned, two spaces between. Lines have no trailing spaces. */
export function table(rows: readonly (readonly (string | number)[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, String(cell).length);
  return rows.map((row) => {
    const cells = row.map((cell, at) => {
      const width = widths[at] as number;
      return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
    });
    return cells.join('  ').trimEnd();
  });
}

/** `1 token`, `2 tokens`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** A number with its sign, as advantages are shown. */
export function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${Number(value.toPrecision(6))}`;
}
