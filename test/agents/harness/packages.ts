import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const MANIFESTS = join(import.meta.dirname, '..', 'packages');
export const CACHE = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'agents');
const INSTALL_MS = 10 * 60_000;
const POLL_MS = 200;

/** Packages of one manifest, installed. */
export interface InstalledPackages {
  /** The folder that holds `node_modules`. */
  readonly folder: string;
  /** Exact version of an installed package. */
  version(name: string): string;
  /** Path of a program in `node_modules/.bin`. */
  bin(name: string): string;
  /** File URL of a package (or a path in it), for `import()`. */
  url(specifier: string): string;
}

/**
 * Installs `test/agents/packages/<group>` into node_modules/.cache, once for each content of its manifest and lockfile, whoever asks first: others wait.
 * Of install scripts only those that the manifest names under `trustedScripts` (package: file) run. Rejects with npm's own words when there is neither a registry nor a filled npm cache.
 */
export async function installPackages(group: 'cli' | 'sdk'): Promise<InstalledPackages> {
  const manifest = join(MANIFESTS, group);
  const [lock, own] = await Promise.all(
    ['package-lock.json', 'package.json'].map((file) => readFile(join(manifest, file))),
  );
  const folder = join(CACHE, `${group}-${createHash('sha256').update(`${lock}${own}`).digest('hex').slice(0, 12)}`);
  if (!existsSync(folder)) {
    await mkdir(CACHE, { recursive: true });
    await alone(`${folder}.lock`, async () => {
      if (!existsSync(folder)) await install(manifest, folder);
    });
  }
  const require = createRequire(join(folder, 'package.json'));
  return {
    folder,
    version: (name) => JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version,
    bin: (name) => join(folder, 'node_modules', '.bin', name),
    url: (specifier) => pathToFileURL(require.resolve(specifier)).href,
  };
}

async function install(manifest: string, folder: string): Promise<void> {
  const work = await mkdtemp(`${folder}-`);
  try {
    for (const file of ['package.json', 'package-lock.json']) await cp(join(manifest, file), join(work, file));
    // Not `npm ci`: it fails where a registry lacks the optional binaries of another platform.
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    await run('npm', args, { cwd: work, timeout: INSTALL_MS, maxBuffer: 16 * 1024 * 1024 });
    const { trustedScripts = {} } = JSON.parse(await readFile(join(manifest, 'package.json'), 'utf8'));
    for (const [name, file] of Object.entries<string>(trustedScripts)) {
      await run(process.execPath, [file], { cwd: join(work, 'node_modules', name), timeout: INSTALL_MS });
    }
    await rename(work, folder); // whole or not at all
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Runs `work` while no other process of this machine does, told by a folder that holds the process id. The lock of a dead process is taken over. */
export async function alone(lock: string, work: () => Promise<void>): Promise<void> {
  const owner = join(lock, 'pid');
  for (;;) {
    try {
      await mkdir(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const pid = existsSync(owner) ? Number(readFileSync(owner, 'utf8')) : null;
      if (pid !== null && !isAlive(pid)) await rm(lock, { recursive: true, force: true });
      else await sleep(POLL_MS);
    }
  }
  try {
    await writeFile(owner, String(process.pid));
    await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Folder of the Node that runs the tests: first on the PATH of every child. */
export const NODE_FOLDER = dirname(process.execPath);
