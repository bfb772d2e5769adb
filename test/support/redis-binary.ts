import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A Redis server that can be started: the program, and the variables that it needs beside the process's own. */
export type RedisBinary = { server: string; env: Record<string, string> };

const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');
const SERVER_NAMES = ['redis-server', 'valkey-server'];

let found: Promise<RedisBinary> | undefined;

/**
 * Finds a Redis server: on the PATH, else Debian's package, unpacked into node_modules/.cache. Nothing is installed on the
 * machine, and no root is needed. Throws, saying what to install, where neither works.
 */
export function findRedis(): Promise<RedisBinary> {
  found ??= findOnPath().then((binary) => binary ?? unpackDebianRedis(join(CACHE, 'redis')));
  return found;
}

async function findOnPath(): Promise<RedisBinary | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const server = SERVER_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (server !== undefined) return { server, env: {} };
  }
  return null;
}

/**
 * Unpacks Debian's redis-server, and the libraries that it needs and this machine lacks, into `folder`. Several processes
 * may do so at once: each unpacks beside it and the first to finish gives it the name.
 */
export async function unpackDebianRedis(folder: string): Promise<RedisBinary> {
  if (!existsSync(folder)) {
    await mkdir(join(folder, '..'), { recursive: true });
    const work = await mkdtemp(`${folder}-`);
    try {
      await downloadAndUnpack(work);
      await rename(join(work, 'root'), folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // another process was faster
      });
    } catch (error) {
      throw new Error(
        'the tests need a Redis server: install redis-server or valkey-server (7 or later) so that it is on the PATH; ' +
          `unpacking Debian's package failed: ${describe(error)}`,
        { cause: error },
      );
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  const libraries = await libraryFolders(join(folder, 'usr', 'lib'));
  const inherited = process.env.LD_LIBRARY_PATH;
  const path = [...libraries, ...(inherited ? [inherited] : [])].join(':');
  return { server: join(folder, 'usr', 'bin', 'redis-server'), env: { LD_LIBRARY_PATH: path } };
}

async function downloadAndUnpack(work: string): Promise<void> {
  const lists = join(work, 'lists');
  const packages = join(work, 'packages');
  const root = join(work, 'root');
  await Promise.all([lists, packages, root].map((path) => mkdir(path, { recursive: true })));

  // The machine's own package lists first; where there are none, or old ones, fresh lists in a folder of our own.
  const fresh = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${work}`, '-o', 'APT::Sandbox::User=root'];
  try {
    await download([], packages);
  } catch {
    await run('apt-get', [...fresh, 'update'], { timeout: 300_000 });
    await download(fresh, packages);
  }
  for (const name of await readdir(packages)) await run('dpkg-deb', ['--extract', join(packages, name), root]);
}

/** Downloads redis-server and what `apt-get install redis-server` would fetch with it on this machine. */
async function download(options: string[], into: string): Promise<void> {
  const plan = ['install', '--print-uris', '--yes', '--no-install-recommends', 'redis-server'];
  const { stdout } = await run('apt-get', [...options, '-o', 'Debug::NoLocking=1', '-qq', ...plan]);
  // A line of the plan: 'address' file-name size checksum. A file name starts with the package's name.
  const missing = stdout.split('\n').flatMap((line) => /^'[^']+' ([^_ ]+)_/.exec(line)?.[1] ?? []);
  // Debian keeps the program itself in redis-tools, which may be installed without redis-server.
  const names = new Set(['redis-server', 'redis-tools', ...missing]);
  await run('apt-get', [...options, 'download', ...names], { cwd: into, timeout: 300_000 });
}

/** The folders that hold shared libraries: /usr/lib/<architecture> in Debian. */
async function libraryFolders(lib: string): Promise<string[]> {
  if (!existsSync(lib)) return [];
  const folders = (await readdir(lib)).map((name) => join(lib, name));
  const kinds = await Promise.all(folders.map((path) => stat(path)));
  return folders.filter((_, index) => kinds[index]?.isDirectory());
}

function describe(error: unknown): string {
  const failure = error as ExecFileException & { stderr?: string };
  return [failure.message, failure.stderr].filter(Boolean).join('\n').trim();
}
