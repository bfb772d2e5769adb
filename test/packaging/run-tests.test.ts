import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

const FILES = {
  'passes.test.ts': "import { test } from 'node:test'; test('adds', () => {}); test('subtracts', () => {});",
  'fails.test.ts': "import { test } from 'node:test'; test('breaks', () => { throw new Error('as it should'); });",
  'skips.test.ts': "import { test } from 'node:test'; test('waits for better days', { skip: 'no Python' }, () => {});",
};

let project: string;

before(() => {
  project = mkdtempSync(join(tmpdir(), 'run-tests-'));
  for (const path of ['scripts', 'test/support', 'package.json']) {
    cpSync(join(root, path), join(project, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  mkdirSync(join(project, 'test/unit'));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(project, 'test/unit', name), text);
});

after(() => rmSync(project, { recursive: true }));

function runTests(args: string[], env: Record<string, string> = {}): { status: number | null; output: string } {
  // Without these a test runner inside of a test runner runs nothing, or counts as CI.
  const { NODE_TEST_CONTEXT: _context, CI: _ci, ...inherited } = process.env;
  const script = join(project, 'scripts/run-tests.ts');
  const result = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', env: { ...inherited, ...env } });
  return { status: result.status, output: result.stdout + result.stderr };
}

test('passing tests end with 0 and the summary of the test runner', () => {
  const { status, output } = runTests(['test/unit/passes.test.ts']);
  assert.equal(status, 0, output);
  assert.match(output, /ℹ tests 2\nℹ suites 0\nℹ pass 2\nℹ fail 0\n[\s\S]*ℹ duration_ms [\d.]+\n$/);
});

test('a failing test fails the run and is named', () => {
  const { status, output } = runTests(['test/unit/*.test.ts']);
  assert.equal(status, 1);
  assert.match(output, /ℹ fail 1\n/);
  assert.match(output, /failing tests:[\s\S]*✖ breaks[\s\S]*as it should/);
});

test('a name selects tests', () => {
  const { status, output } = runTests(['--name', 'subtracts', 'test/unit/passes.test.ts']);
  assert.equal(status, 0, output);
  assert.match(output, /ℹ tests 1\n/);
});

test('a run without a test fails', () => {
  const none = runTests(['test/nowhere/*.test.ts']);
  assert.equal(none.status, 1);
  assert.match(none.output, /no test file matches test\/nowhere\/\*\.test\.ts/);
});

test('a skipped test fails the run where CI is set, and only there', () => {
  assert.equal(runTests(['test/unit/skips.test.ts']).status, 0);
  const { status, output } = runTests(['test/unit/skips.test.ts'], { CI: 'true' });
  assert.equal(status, 1);
  assert.match(output, /1 skipped, which fails a run with CI set/);
});

test('the whole run checks types and lint first, and fails with them', () => {
  writeFileSync(
    join(project, 'tsconfig.json'),
    '{"compilerOptions":{"noEmit":true,"strict":true},"files":["wrong.ts"]}',
  );
  writeFileSync(join(project, 'wrong.ts'), "export const wrong: number = 'text';\n");
  writeFileSync(join(project, 'biome.json'), '{"files":{"includes":["wrong.ts"]},"formatter":{"enabled":false}}');
  rmSync(join(project, 'test/unit/fails.test.ts'));
  const { status, output } = runTests([]);
  assert.equal(status, 1, output);
  assert.match(output, /^✖ types$/m);
  assert.match(output, /wrong\.ts\(1,14\): error TS2322/);
  assert.match(output, /^✔ lint$/m);
  assert.match(output, /ℹ fail 0\n/);
});
