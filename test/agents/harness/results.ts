import { mkdir, writeFile } from 'node:fs/promises';
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
