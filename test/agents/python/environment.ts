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
/** The oldest that the agents run on: 3.11. */
const OLDEST_MINOR = 11;
const INTERPRETERS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];

/** An environment of its own with the packages of requirements.txt. */
export interface PythonEnvironment {
  /** Path of its interpreter. */
  readonly python: string;
  /** Exact version of a package. */
  version(name: string): string;
}

/**
 * Makes the environment in node_modules/.cache, once for each content of requirements.txt and each Python, whoever asks first: others wait. Rejects with pip's own words when
 * there is no registry, and says what to install where there is no Python.
 */
export async function installPython(): Promise<PythonEnvironment> {
  const requirements = await readFile(REQUIREMENTS, 'utf8');
  const interpreter = await findInterpreter();
  const content = `${interpreter.version}\n${requirements}`;
  const folder = join(CACHE, `python-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`);
  if (!existsSync(folder)) {
    await mkdir(CACHE, { recursive: true });
    await alone(`${folder}.lock`, async () => {
      if (!existsSync(folder)) await install(interpreter.program, folder);
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

async function install(interpreter: string, folder: string): Promise<void> {
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

/** Why the Python agents cannot run here: no Python that is new enough. Null where they can. */
export async function missingPython(): Promise<string | null> {
  return findInterpreter().then(
    () => null,
    (error: Error) => error.message,
  );
}

async function findInterpreter(): Promise<{ program: string; version: string }> {
  const question = 'import ensurepip, sys, venv; print(".".join(map(str, sys.version_info[:3])))';
  for (const program of INTERPRETERS) {
    const version = await run(program, ['-c', question]).then(
      ({ stdout }) => stdout.trim(),
      () => null, // not on the PATH, or without these modules
    );
    const [major, minor = 0] = (version ?? '').split('.').map(Number);
    if (version !== null && major === 3 && minor >= OLDEST_MINOR) return { program, version };
  }
  throw new Error('the Python agents need Python 3.11 or later with venv on the PATH (Debian: python3 python3-venv)');
}
