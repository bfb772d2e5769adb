import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { buildDist, toJavaScript } from '../../scripts/build-dist.ts';

test('types become blanks, so that positions stay', () => {
  assert.equal(
    toJavaScript('const a: number = 1;\nexport const b = a as unknown;'),
    ['const a         = 1;', 'export const b = a           ;'].join('\n'),
  );
});

test('every form of a relative module path gets the extension of the built file', () => {
  const forms: Array<[source: string, built: string]> = [
    ["import { a } from './a.ts';", "import { a } from './a.js';"],
    ["export * from '../b/a.ts';", "export * from '../b/a.js';"],
    ["import './a.ts';", "import './a.js';"],
    ["const a = await import('./a.ts');", "const a = await import('./a.js');"],
    ['new Worker(new URL("./thread.ts", import.meta.url));', 'new Worker(new URL("./thread.js", import.meta.url));'],
    [
      "readFileSync(new URL('./lua/admit.lua', import.meta.url));",
      "readFileSync(new URL('./lua/admit.lua', import.meta.url));",
    ],
    ["const text = 'see main.ts';", "const text = 'see main.ts';"],
  ];
  for (const [source, built] of forms) assert.equal(toJavaScript(source), built);
});

test('syntax that needs more than blanks is an error', () => {
  assert.throws(() => toJavaScript('enum Color { Red }'), /enum/i);
});

test('assets keep their place, and nothing of an earlier build stays', () => {
  const root = mkdtempSync(join(tmpdir(), 'build-dist-'));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  try {
    write('package.json', '{"version":"1.2.3"}');
    write('src/ledger/redis/lua/admit.lua', 'return 1');
    write('src/main.ts', 'export const one: number = 1;');
    write('config/default.yaml', 'server: {}');
    write('test/a.test.ts', '');
    write('dist/src/removed.js', '');
    assert.equal(buildDist(root), 3);
    assert.equal(readFileSync(join(root, 'dist/src/ledger/redis/lua/admit.lua'), 'utf8'), 'return 1');
    assert.equal(readFileSync(join(root, 'dist/src/main.js'), 'utf8'), 'export const one         = 1;');
    assert.equal(readFileSync(join(root, 'dist/package.json'), 'utf8'), '{"version":"1.2.3"}');
    assert.deepEqual(
      ['dist/config/default.yaml', 'dist/src/main.ts', 'dist/src/removed.js', 'dist/test'].map((path) =>
        existsSync(join(root, path)),
      ),
      [true, false, false, false],
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});
