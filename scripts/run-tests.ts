/**
 * `npm test`: type check, lint, then every test/**\/*.test.ts, ending with the summary of node's own test runner.
 *
 * `npm test -- <files or globs>` runs only those, without the checks; `--name <pattern>` filters by test name.
 * Exits non-zero when anything fails, when no test ran, and, with CI set, when a test was skipped.
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { findRedis } from '../test/support/redis-binary.ts';

const ALL_TESTS = 'test/**/*.test.ts';
/** A test file that hangs is ended and reported when the whole run has taken this long. */
const RUN_TIMEOUT_MS = 40 * 60_000;

const root = dirname(import.meta.dirname);

/** Runs a program of node_modules/.bin and prints one line, with its output only when it failed. */
function check(title: string, program: string, args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(join(root, 'node_modules', '.bin', program), args, { cwd: root });
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)));
    child.on('error', (error) => output.push(error.message));
    child.on('close', (code) => {
      console.log(`${code === 0 ? '✔' : '✖'} ${title}`);
      if (code !== 0) console.log(output.join(''));
      resolve(code === 0);
    });
  });
}

/** Runs the test files, each in a process of its own. True when something ran and nothing failed. */
async function runTests(files: string[], namePatterns: string[]): Promise<boolean> {
  let counts: { tests: number; skipped: number } | undefined;
  let succeeded = false;
  const events = run({
    files,
    cwd: root,
    concurrency: Math.max(2, availableParallelism()),
    signal: AbortSignal.timeout(RUN_TIMEOUT_MS),
    ...(namePatterns.length > 0 ? { testNamePatterns: namePatterns } : {}),
  });
  events.on('test:summary', (summary) => {
    if (summary.file !== undefined) return; // of one file; the one without a file is of the whole run
    ({ counts, success: succeeded } = summary);
  });
  for await (const text of events.compose(spec)) process.stdout.write(text);

  if (counts === undefined || counts.tests === 0) {
    console.error('no test ran');
    return false;
  }
  if (process.env.CI && counts.skipped > 0) {
    console.error(`${counts.skipped} skipped, which fails a run with CI set`);
    return false;
  }
  return succeeded;
}

const { values, positionals } = parseArgs({
  options: { name: { type: 'string', multiple: true, default: [] } },
  allowPositionals: true,
});
const everything = positionals.length === 0 && values.name.length === 0;
const files = globSync(positionals.length > 0 ? positionals : ALL_TESTS, { cwd: root }).sort();

let ok = true;
if (everything) {
  // Before the tests, so that those which measure or time out do not share the machine with them.
  const checks = [
    check('types', 'tsc', []),
    check('types of the inspector page', 'tsc', ['-p', 'tsconfig.page.json']),
    check('lint', 'biome', ['check', '--error-on-warnings', '.']),
  ];
  ok = (await Promise.all(checks)).every(Boolean);
}
if (files.length === 0) {
  console.error(`no test file matches ${positionals.join(' ') || ALL_TESTS}`);
  ok = false;
} else {
  // Once here rather than in every test file that needs it at the same moment.
  const { server } = await findRedis();
  console.log(`✔ Redis server: ${server}`);
  if (!(await runTests(files, values.name))) ok = false;
}
if (!ok && everything) console.log('\nFAILED: see the lines marked ✖ above');
process.exitCode = ok ? 0 : 1;
