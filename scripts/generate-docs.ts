/**
 * Writes what is generated of the documentation: `node scripts/generate-docs.ts`. With `--check` it writes nothing, names what is stale and exits 1.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { openApiDocument } from '../routes/operations/openapi/document.ts';
import { compatibilityMarkdown } from './compatibility-docs.ts';
import { errorsDoc } from './docs/errors-doc.ts';
import { metricsDoc } from './docs/metrics-doc.ts';
import { withConfigTable } from './docs/readme.ts';
import { withConfigSchema } from './docs/values-schema.ts';

const root = dirname(import.meta.dirname);
const VALUES_SCHEMA = 'helm/gym-model-proxy/values.schema.json';

/** A file as it should be. */
export interface GeneratedFile {
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
}

/** All files that are generated, in whole or in part. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const openApi = openApiDocument({ schemaVersion: 3, ownerKey: 'capture_key' });
  return [
    { path: 'README.md', text: withConfigTable(read('README.md')) },
    { path: 'docs/errors.md', text: errorsDoc() },
    { path: 'docs/metrics.md', text: await metricsDoc() },
    { path: 'docs/compatibility.md', text: compatibilityMarkdown() },
    { path: 'docs/openapi.json', text: `${JSON.stringify(openApi, null, 2)}\n` },
    { path: VALUES_SCHEMA, text: formatted(VALUES_SCHEMA, withConfigSchema(read(VALUES_SCHEMA))) },
  ];
}

/** Paths of the files that are not as they should be. */
export async function staleFiles(): Promise<string[]> {
  const files = await generatedFiles();
  return files.filter(({ path, text }) => !existsSync(join(root, path)) || read(path) !== text).map(({ path }) => path);
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** As the linter wants it. */
function formatted(path: string, text: string): string {
  const biome = join(root, 'node_modules', '.bin', 'biome');
  return execFileSync(biome, ['format', `--stdin-file-path=${path}`], { cwd: root, input: text, encoding: 'utf8' });
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const stale = await staleFiles();
  if (values.check) {
    for (const path of stale) console.log(`${path} is stale: run node scripts/generate-docs.ts`);
    if (stale.length > 0) process.exitCode = 1;
  } else {
    for (const { path, text } of await generatedFiles()) {
      writeFileSync(join(root, path), text);
      console.log(`${stale.includes(path) ? 'wrote    ' : 'unchanged'} ${path}`);
    }
  }
}
