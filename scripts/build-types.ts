/** Adds to dist/ what TypeScript needs to know of the library: the declarations of `src/trainer/index.ts` and of all that it names. For `npm pack`; nothing runs them. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RELATIVE_TS_PATH } from './build-dist.ts';

/** Builds them into `root`/dist, which is there already. Returns the files that were written. */
export function buildTypes(root: string): string[] {
  const config = join(root, 'dist', 'tsconfig.types.json');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    incremental: false,
    tsBuildInfoFile: null,
    listEmittedFiles: true,
    rootDir: root,
    outDir: join(root, 'dist'),
  };
  const entry = join(root, 'src', 'trainer', 'index.ts');
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files: [entry], include: [] }),
  );
  try {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const said = execFileSync(process.execPath, [tsc, '--project', config], { encoding: 'utf8' });
    const files = [...said.matchAll(/^TSFILE: (.+)$/gm)].map(([, file]) => file as string);
    for (const file of files) writeFileSync(file, readFileSync(file, 'utf8').replace(RELATIVE_TS_PATH, '$1$2.js$1'));
    return files;
  } finally {
    rmSync(config);
  }
}

if (import.meta.main) buildTypes(dirname(import.meta.dirname));
