import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Counts, RootRow } from './compare.ts';

/** Where the rows of the last runs lie, one file each. */
export const RESULTS = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'agents-results');

/** Set where docs/agents.md is being made anew, so that nothing is compared with it. */
export const WRITING_TABLE = 'GYM_AGENTS_TABLE';

/** What a scenario came to under one generation of the protocol. */
export interface Outcome extends Counts {
  /** Calls that the worker refused before generation. */
  readonly refused: number;
  /** Requests that joined a call which was running or had finished. */
  readonly resends: number;
  readonly tokenFields: number;
  readonly roots: readonly RootRow[];
  /** Schema 2: calls that were answered without a record. */
  readonly unresolved: readonly string[];
}

/** What one scenario came to: a row of the table in docs/agents.md. */
export interface ResultRow {
  readonly agent: string;
  readonly version: string;
  readonly dialect: string;
  readonly run: string;
  readonly schema3: Outcome;
  readonly schema2: Outcome;
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

/**
 * The numbers of some runs of one agent and dialect, as NUMBERS names them. How often it called, was refused and came again is the scenario's, whatever the generation; what
 * must be 0 is counted over both.
 */
export function numbersOf(rows: readonly ResultRow[]): number[] {
  const sum = (of: (row: ResultRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const both = (of: (outcome: Outcome) => number) => sum(({ schema3, schema2 }) => of(schema3) + of(schema2));
  return [
    sum((row) => row.schema3.calls),
    sum((row) => row.schema3.continuations),
    sum((row) => row.schema3.rootCalls),
    sum((row) => row.schema2.continuations),
    sum((row) => row.schema2.rootCalls),
    sum((row) => row.schema2.unresolved.length),
    both((outcome) => outcome.wrongParents),
    both((outcome) => outcome.pending),
    both((outcome) => outcome.failures),
    sum((row) => row.schema3.refused),
    sum((row) => row.schema3.resends),
    both((outcome) => outcome.tokenFields),
  ];
}

export const NUMBERS = [
  'calls',
  'schema 3: continue',
  'schema 3: roots',
  'schema 2: continue',
  'schema 2: roots',
  'schema 2: unresolved',
  'wrong parents',
  'pending',
  'failures',
  'refused for length',
  're-sends joined',
  'token-like fields',
] as const;

/** The line of one run, as it stands in the page. */
export function runLine(row: ResultRow): string {
  const roots = row.schema3.roots.map(({ call, why }) => `\`${call}\` ${why}`).join('; ');
  const unresolved = row.schema2.unresolved.map((call) => `\`${call}\``).join(', ');
  const note = row.note === null ? '' : ` ${row.note}`;
  return tableLine([row.agent, row.version, row.dialect, row.run, ...numbersOf([row]), `${roots}.${note}`, unresolved]);
}

/** A row of a Markdown table. */
export function tableLine(cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}
