import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

/** strace, and the variables that it needs beside the process's own. */
export type StraceBinary = { path: string; env: Record<string, string> };

let found: Promise<StraceBinary> | undefined;

/** Finds strace: on the PATH, else Debian's package, unpacked into node_modules/.cache. Throws, saying what to install, where neither works. */
export function findStrace(): Promise<StraceBinary> {
  found ??= find();
  return found;
}

async function find(): Promise<StraceBinary> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'strace');
    if (existsSync(path)) return { path, env: {} };
  }
  const folder = join(CACHE, 'strace');
  if (!existsSync(folder)) await unpack(folder);
  const libraries = (await readdir(join(folder, 'usr', 'lib'))).map((name) => join(folder, 'usr', 'lib', name));
  return { path: join(folder, 'usr', 'bin', 'strace'), env: { LD_LIBRARY_PATH: libraries.join(':') } };
}

async function unpack(folder: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(`${folder}-`);
  try {
    const lists = join(work, 'lists');
    await mkdir(lists);
    const own = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${work}`, '-o', 'APT::Sandbox::User=root'];
    const names = ['strace', 'libunwind8'];
    await run('apt-get', ['download', ...names], { cwd: work }).catch(async () => {
      await run('apt-get', [...own, 'update'], { timeout: 300_000 });
      await run('apt-get', [...own, 'download', ...names], { cwd: work, timeout: 300_000 });
    });
    const root = join(work, 'root');
    for (const name of await readdir(work)) {
      if (name.endsWith('.deb')) await run('dpkg-deb', ['--extract', join(work, name), root]);
    }
    await rename(root, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // another process was faster
    });
  } catch (error) {
    throw new Error(
      `these tests need strace on the PATH; unpacking Debian's package failed: ${(error as Error).message}`,
      { cause: error },
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
