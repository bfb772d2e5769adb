import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..');
const PURE_FOLDERS = ['src/protocol/', 'src/lineage/'];
const PURE_PACKAGES = ['zod', 'node:crypto', 'node:buffer', 'node:zlib'];
/** What a package ships. */
const SHIPPED = ['src/**/*.ts', 'routes/**/*.ts', 'config/**/*.ts', 'examples/**/*.ts'];

/** An import as the rules see it: a path from the root for a file of ours, else the specifier. */
type Import = { from: string; to: string };

function importsOf(from: string, text: string): Import[] {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return importedFiles.map(({ fileName }) => {
    const to = fileName.startsWith('.') ? normalize(join(dirname(from), fileName)) : fileName;
    return { from, to };
  });
}

function shippedImports(): Import[] {
  const files = globSync(SHIPPED, { cwd: root });
  assert.ok(files.length > 0);
  return files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')));
}

function isInside(path: string, folders: string[]): boolean {
  return folders.some((folder) => path.startsWith(folder));
}

/** The imports that break a rule of the house, as lines to read. */
function breaches(imports: Import[], dependencies: string[]): string[] {
  return imports.flatMap(({ from, to }) => {
    const line = `${from} imports ${to}`;
    if (isInside(from, PURE_FOLDERS) && !isInside(to, PURE_FOLDERS) && !PURE_PACKAGES.includes(to)) {
      return [`${line}: protocol and lineage import only ${PURE_PACKAGES.join(', ')} and each other`];
    }
    if (from.startsWith('src/') && to.startsWith('routes/') && from !== 'src/app.ts') {
      return [`${line}: in src only src/app.ts imports routes`];
    }
    if (/^(test|bench|scripts)\//.test(to)) return [`${line}: it is not part of the package`];
    const isOurs = isInside(to, ['src/', 'routes/', 'config/', 'examples/', 'package.json']);
    if (!isOurs && !isBuiltin(to) && !dependencies.some((name) => to === name || to.startsWith(`${name}/`))) {
      return [`${line}: it is not among the dependencies of package.json`];
    }
    if (isBuiltin(to) && !to.startsWith('node:')) return [`${line}: write node:${to}`];
    return [];
  });
}

test('the source keeps the rules of the layout', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual(breaches(shippedImports(), Object.keys(dependencies)), []);
});

test('each rule of the layout sees its breach', () => {
  const cases: Array<[from: string, code: string, message: RegExp]> = [
    [
      'src/protocol/chat/a.ts',
      "import { b } from '../../call/b.ts'",
      /^src\/protocol\/chat\/a.ts imports src\/call\/b.ts/,
    ],
    ['src/lineage/a.ts', "import fs from 'node:fs'", /protocol and lineage import only/],
    ['src/call/a.ts', "const b = await import('../../routes/call/b.ts')", /only src\/app.ts imports routes/],
    ['routes/a.ts', "export { b } from '../test/support/b.ts'", /not part of the package/],
    ['src/cli/a.ts', "import type { B } from 'typescript'", /not among the dependencies/],
    ['config/a.ts', "import fs from 'fs'", /write node:fs/],
  ];
  for (const [from, code, message] of cases) {
    const found = breaches(importsOf(from, code), ['fastify']);
    assert.equal(found.length, 1, code);
    assert.match(found[0]!, message);
  }
  const allowed = [
    ...importsOf('src/app.ts', "import { a } from '../routes/a.ts'; import fastify from 'fastify';"),
    ...importsOf('src/lineage/a.ts', "import { z } from 'zod'; import { b } from '../protocol/json/b.ts';"),
  ];
  assert.deepEqual(breaches(allowed, ['fastify', 'zod']), []);
});
