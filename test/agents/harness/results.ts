import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Counts, RootRow } from './compare.ts';

/** Where the rows of the last runs lie, one file each. */
export const RESULTS = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'agents-results');

/** Set where docs/agents.md is being made anew, so that nothing is compared with it. */
export const WRITING_TABLE = 'GYM_AGENTS_TABLE';

/** What one scenario came to: a row of the table in docs/agents.md. */
export interface ResultRow extends Counts {
  readonly agent: string;
  readonly version: string;
  readonly dialect: string;
  readonly run: string;
  /** Calls that the worker refused before generation. */
  readonly refused: number;
  /** Requests that joined a call which was running or had finished. */
  readonly resends: number;
  readonly tokenFields: number;
  readonly roots: readonly RootRow[];
  readonly note: string | null;
}

/** Keeps a row, in the place of an earlier one of the same agent, dialect and run. */
export async function writeRow(row: ResultRow): Promise<void> {
  const name = [row.agent, row.dialect, row.run]
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  await mkdir(RESULTS, { recursive: true });
  await writeFile(join(RESULTS, `${name}.json`), `${JSON.stringify(row, null, 2)}\n`);
}

const DOC = join(import.meta.dirname, '..', '..', '..', 'docs', 'agents.md');

/** Whether docs/agents.md shows this row; true while its tables are being made. */
export async function isDocumented(row: ResultRow): Promise<boolean> {
  return process.env[WRITING_TABLE] !== undefined || (await readFile(DOC, 'utf8')).includes(`\n${runLine(row)}\n`);
}

/** The line of one run, as it stands in the page. */
export function runLine(row: ResultRow): string {
  const numbers = [
    row.calls,
    row.continuations,
    row.rootCalls,
    row.wrongParents,
    row.pending,
    row.failures,
    row.refused,
    row.resends,
    row.tokenFields,
  ];
  const roots = row.roots.map(({ call, why }) => `\`${call}\` ${why}`).join('; ');
  const note = row.note === null ? '' : ` ${row.note}`;
  return tableLine([row.agent, row.version, row.dialect, row.run, ...numbers, `${roots}.${note}`]);
}

/** A row of a Markdown table. */
export function tableLine(cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}
