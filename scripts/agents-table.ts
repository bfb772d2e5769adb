/**
 * Writes the tables of docs/agents.md from what the agent tests found: `node scripts/agents-table.ts` runs them (test/agents, a few minutes) and writes; with
 * `--from-results` it takes the results of the last run as they are.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  tableLine as line,
  NUMBERS,
  numbersOf,
  RESULTS,
  type ResultRow,
  runLine,
  WRITING_TABLE,
} from '../test/agents/harness/results.ts';

const root = dirname(import.meta.dirname);
export const AGENTS_DOC = join(root, 'docs', 'agents.md');

/** Columns behind the numbers of a run. */
const RUN_WORDS: readonly string[] = ['roots and why', 'unresolved under schema 2'];

/** The page with its tables made of these rows. Throws where it lacks the marks. */
export function withTables(text: string, rows: readonly ResultRow[]): string {
  const sorted = [...rows].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return [
    ['results', resultsTable(sorted)],
    ['rewrites', rewritesTable(sorted)],
    ['runs', runsTable(sorted)],
  ].reduce((page, [name, table]) => replaceBetween(page, name as string, table as string), text);
}

function runsTable(rows: readonly ResultRow[]): string {
  const names = ['agent', 'version', 'dialect', 'run', ...NUMBERS, ...RUN_WORDS];
  return [...head(names, 4), ...rows.map(runLine)].join('\n');
}

/** One row for each agent and dialect: the sums over its runs. */
function resultsTable(rows: readonly ResultRow[]): string {
  const groups = Map.groupBy(rows, (row) => `${row.agent}\0${row.dialect}`);
  const lines = [...groups.values()].map((group) => {
    const [{ agent, version, dialect }] = group as [ResultRow, ...ResultRow[]];
    return line([agent, version, dialect, group.length, ...numbersOf(group)]);
  });
  return [...head(['agent', 'version', 'dialect', 'runs', ...NUMBERS], 3), ...lines].join('\n');
}

/** What clients do to their history on ordinary turns, each once for an agent, with the dialects in which it does. */
function rewritesTable(rows: readonly ResultRow[]): string {
  const found = rows.flatMap(({ agent, dialect, schema3 }) =>
    schema3.roots.flatMap(({ why, rewrite }) =>
      rewrite === null ? [] : [{ agent, dialect, rewrite, part: partOf(why) }],
    ),
  );
  const groups = Map.groupBy(found, ({ agent, rewrite, part }) => [agent, rewrite, part].join('\0'));
  const lines = [...groups.values()].map((group) => {
    const [{ agent, rewrite, part }] = group as [(typeof found)[number]];
    return line([agent, [...new Set(group.map(({ dialect }) => dialect))].join(', '), rewrite, part]);
  });
  return [...head(['agent', 'dialect', 'what it does to a turn', '`why_root` names'], 4), ...lines].join('\n');
}

/** `differs from c1 at item 2 (assistant): arguments (path)` names the arguments. */
function partOf(why: string): string {
  return why.replace(/^differs from \S+ at item \d+ \(\w+\): /, '');
}

function head(names: readonly string[], words: number): string[] {
  return [
    line(names),
    line(names.map((name, at) => (at < words || RUN_WORDS.includes(name) ? '---' : '--:'))).replaceAll(' ', ''),
  ];
}

function sortKey({ agent, dialect, run }: ResultRow): string {
  return [agent.toLowerCase(), dialect, run === 'task' ? '' : run].join('\0');
}

function replaceBetween(text: string, name: string, table: string): string {
  const begin = `<!-- ${name}: begin (made by scripts/agents-table.ts) -->`;
  const end = `<!-- ${name}: end -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/agents.md lacks the marks of ${name}`);
  return `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`;
}

/** Rows of the last runs. */
export function readRows(): ResultRow[] {
  const files = readdirSync(RESULTS).filter((file) => file.endsWith('.json'));
  return files.map((file) => JSON.parse(readFileSync(join(RESULTS, file), 'utf8')) as ResultRow);
}

/** Runs the agent tests; their results are then those of this run alone. */
function runAgents(): boolean {
  rmSync(RESULTS, { recursive: true, force: true });
  const files = globSync('test/agents/**/*.test.ts', { cwd: root }).sort();
  const env = { ...process.env, [WRITING_TABLE]: '1' };
  return (
    spawnSync(process.execPath, ['--test', '--test-concurrency=2', ...files], { cwd: root, env, stdio: 'inherit' })
      .status === 0
  );
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { 'from-results': { type: 'boolean', default: false } } });
  if (!values['from-results'] && !runAgents()) {
    console.error('The agent tests failed; docs/agents.md is left as it was.');
    process.exitCode = 1;
  } else {
    writeFileSync(AGENTS_DOC, withTables(readFileSync(AGENTS_DOC, 'utf8'), readRows()));
    console.log('wrote docs/agents.md');
  }
}
