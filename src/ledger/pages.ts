const PAGE = 250;

/** Reads `0 .. count - 1` in pages, so that others get their turn between them. Ends early at a page that is not full. */
export async function readInPages<T>(count: number, read: (from: number, to: number) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let from = 0; from < count; from += PAGE) {
    const to = Math.min(from + PAGE, count);
    const page = await read(from, to);
    all.push(...page);
    if (page.length < to - from) break;
  }
  return all;
}
