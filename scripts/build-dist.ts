/**
 * Makes dist/, the plain JavaScript that `npm pack` ships: Node does not strip types under node_modules.
 *
 * Types are replaced by blanks, so lines and columns stay and stack traces fit the source. Everything that is no
 * TypeScript (Lua, SQL, YAML, HTML ...) is copied to the same place, so `new URL('./x.lua', import.meta.url)` keeps working.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';

const SHIPPED_FOLDERS = ['src', 'routes', 'config', 'examples'];

/** Relative module paths in string literals: imports, `import()`, and `new URL('./thread.ts', import.meta.url)`. */
export const RELATIVE_TS_PATH = /(['"`])(\.{1,2}\/[^'"`\n]+)\.ts\1/g;

/** TypeScript source to the JavaScript that is shipped. */
export function toJavaScript(source: string): string {
  return stripTypeScriptTypes(source, { mode: 'strip' }).replace(RELATIVE_TS_PATH, '$1$2.js$1');
}

/** Builds `root`/dist anew. Returns the number of files written. */
export function buildDist(root: string): number {
  const dist = join(root, 'dist');
  rmSync(dist, { recursive: true, force: true });
  let files = 0;
  for (const folder of SHIPPED_FOLDERS.filter((name) => existsSync(join(root, name)))) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const from = join(entry.parentPath, entry.name);
      const to = join(dist, from.slice(root.length + 1));
      mkdirSync(dirname(to), { recursive: true });
      if (extname(from) === '.ts') writeFileSync(`${to.slice(0, -3)}.js`, toJavaScript(readFileSync(from, 'utf8')));
      else cpSync(from, to);
      files += 1;
    }
  }
  // Code that reads the package's version finds it at the same relative path as in the checkout.
  cpSync(join(root, 'package.json'), join(dist, 'package.json'));
  return files;
}

if (import.meta.main) buildDist(dirname(import.meta.dirname));
