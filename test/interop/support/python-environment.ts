import { type ExecFileException, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { alone } from '../../agents/harness/packages.ts';

const run = promisify(execFile);

/** Our own Python programs, and the packages that they need. */
export const PYTHON_FOLDER = join(import.meta.dirname, '..', 'python');
const CACHE = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'interop');
/** Where Python keeps what it compiled, ours and the packages'. */
export const BYTECODE_FOLDER = join(CACHE, 'bytecode');
const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
const INSTALL_MS = 10 * 60_000;
/** The released model server looks up the version of Ray at import, and loads nothing of it unless it is told to use it. */
const NAMED_ONLY = { peer: [['ray', '2.58.0']], clients: [] } as const;

/** A Python with the packages of a group, or why there is none: no Python at all, or one for which the packages cannot be had. */
export type PythonEnvironment =
  | { readonly kind: 'ready'; readonly python: string }
  | { readonly kind: 'no_python' | 'no_packages'; readonly reason: string };

const found = new Map<string, Promise<PythonEnvironment>>();

/**
 * A virtual environment with the packages of `<group>-requirements.txt`, made on demand in node_modules/.cache/interop, once for each content of that file and
 * each Python, whoever asks first: others wait. Not `ready` where there is no Python from 3.11 on, or no package registry.
 */
export function pythonEnvironment(group: 'peer' | 'clients'): Promise<PythonEnvironment> {
  const known = found.get(group) ?? makeEnvironment(group);
  found.set(group, known);
  return known;
}

/**
 * A suite that needs an environment. Where that is missing the suite is skipped and says why. Without Python that is all; with one it is a skipped test, too, which
 * fails a run with CI set (scripts/run-tests.ts).
 */
export function describeWith(environment: PythonEnvironment, name: string, body: (python: string) => void): void {
  switch (environment.kind) {
    case 'ready':
      describe(name, () => body(environment.python));
      break;
    case 'no_packages':
      describe(name, () => {
        test('everything', { skip: environment.reason });
      });
      break;
    case 'no_python':
      describe(name, { skip: environment.reason });
      break;
    default:
      environment satisfies never;
  }
}

async function makeEnvironment(group: 'peer' | 'clients'): Promise<PythonEnvironment> {
  const base = await findPython();
  if (base === null)
    return { kind: 'no_python', reason: 'needs Python 3.11 or newer with its venv module on the PATH' };
  const requirements = join(PYTHON_FOLDER, `${group}-requirements.txt`);
  const content = `${base.version}\n${await readFile(requirements, 'utf8')}`;
  const folder = join(CACHE, `${group}-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`);
  const ready = join(folder, 'ready');
  const python = join(folder, 'bin', 'python');
  if (existsSync(ready)) return { kind: 'ready', python };
  try {
    await mkdir(CACHE, { recursive: true });
    await alone(`${folder}.lock`, async () => {
      if (existsSync(ready)) return;
      await rm(folder, { recursive: true, force: true });
      await run(base.program, ['-m', 'venv', folder], { timeout: INSTALL_MS });
      const options = [
        '--no-deps',
        '--ignore-requires-python',
        '--no-compile',
        '--quiet',
        '--disable-pip-version-check',
      ];
      await run(python, ['-m', 'pip', 'install', ...options, '-r', requirements], { timeout: INSTALL_MS });
      for (const [name, version] of NAMED_ONLY[group]) await nameDistribution(python, name, version);
      await writeFile(ready, '');
    });
    return { kind: 'ready', python };
  } catch (error) {
    const { message, stderr } = error as ExecFileException & { stderr?: string };
    const why = (stderr ?? '').trim().split('\n').slice(-2).join(' ') || message;
    return {
      kind: 'no_packages',
      reason: `the packages of ${group}-requirements.txt cannot be installed from PyPI: ${why}`,
    };
  }
}

async function findPython(): Promise<{ program: string; version: string } | null> {
  const question = 'import ensurepip, sys, venv; print(".".join(map(str, sys.version_info[:3])))';
  for (const program of PYTHONS) {
    try {
      const version = (await run(program, ['-c', question])).stdout.trim();
      const [major, minor] = version.split('.').map(Number) as [number, number];
      if (major === 3 && minor >= 11) return { program, version };
    } catch {
      // Not on the PATH, or without these modules: the next one.
    }
  }
  return null;
}

/** Makes `importlib.metadata.version(name)` answer, without the distribution itself. */
async function nameDistribution(python: string, name: string, version: string): Promise<void> {
  const { stdout } = await run(python, ['-c', 'import sysconfig; print(sysconfig.get_paths()["purelib"])']);
  const info = join(stdout.trim(), `${name}-${version}.dist-info`);
  await mkdir(info, { recursive: true });
  await writeFile(join(info, 'METADATA'), `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`);
}
