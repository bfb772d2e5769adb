import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { alone } from '../harness/packages.ts';

const run = promisify(execFile);

const CACHE = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'agents');
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const INSTALL_MS = 10 * 60_000;
/** The oldest that the agents run on, as a tuple of Python. */
const OLDEST = '(3, 10)';
const INTERPRETERS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];

/** An environment of its own with the packages of requirements.txt. */
export interface PythonEnvironment {
  /** Path of its interpreter. */
  readonly python: string;
  /** Exact version of a package. */
  version(name: string): string;
}

/**
 * Makes the environment in node_modules/.cache, once for each content of requirements.txt, whoever asks first: others wait. Rejects with pip's own words when
 * there is no registry, and says what to install where there is no Python.
 */
export async function installPython(): Promise<PythonEnvironment> {
  const requirements = await readFile(REQUIREMENTS, 'utf8');
  const folder = join(CACHE, `python-${createHash('sha256').update(requirements).digest('hex').slice(0, 12)}`);
  if (!existsSync(folder)) {
    await mkdir(CACHE, { recursive: true });
    await alone(`${folder}.lock`, async () => {
      if (!existsSync(folder)) await install(folder);
    });
  }
  return {
    python: join(folder, 'bin', 'python'),
    version: (name) => {
      const pinned = new RegExp(`^${name}==(.+)$`, 'm').exec(requirements)?.[1];
      if (pinned === undefined) throw new Error(`${name} is not in requirements.txt`);
      return pinned;
    },
  };
}

async function install(folder: string): Promise<void> {
  const interpreter = await findInterpreter();
  const work = await mkdtemp(`${folder}-`);
  try {
    await run(interpreter, ['-m', 'venv', work], { timeout: INSTALL_MS });
    const args = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '-r', REQUIREMENTS];
    await run(join(work, 'bin', 'python'), args, { timeout: INSTALL_MS, maxBuffer: 16 * 1024 * 1024 });
    await rename(work, folder); // whole or not at all; the interpreter finds its packages wherever the folder stands
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function findInterpreter(): Promise<string> {
  for (const name of INTERPRETERS) {
    const check = `import sys, venv, ensurepip; sys.exit(sys.version_info < ${OLDEST})`;
    const fits = await run(name, ['-c', check]).then(
      () => true,
      () => false, // not there, too old, or without the module venv
    );
    if (fits) return name;
  }
  throw new Error('the Python agents need Python 3.10 or later with venv on the PATH (Debian: python3 python3-venv)');
}
