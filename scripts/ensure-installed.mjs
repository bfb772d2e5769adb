#!/usr/bin/env node
// The `pre` step of every npm script: makes `npm run demo` on a fresh clone work in one line.
//
// Runs on whatever Node is on the PATH (18 and later), before anything is installed, so it has no dependency. It runs
// `npm ci` when node_modules is missing or does not hold what the lockfile says, and then makes sure that the script
// which follows gets a Node that can run it: npm puts node_modules/.bin first on the PATH, and the packaged Node is there.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const REQUIRED_NODE_MAJOR = 24;

/**
 * A package of a lockfile, as far as it matters here.
 * @typedef {{ version?: string, integrity?: string, link?: boolean, dev?: boolean, optional?: boolean,
 *   devOptional?: boolean, peer?: boolean }} LockedPackage
 */

/**
 * Says why node_modules has to be installed anew, or null when it holds what the lockfile asks for.
 *
 * @param {string} root folder of package.json
 * @param {string[]} omit the dependency kinds (`dev`, `optional`, `peer`) that npm was told to leave out
 * @returns {string | null}
 */
export function whyInstall(root, omit = []) {
  const lockfile = readLock(join(root, 'package-lock.json'));
  if (lockfile === null) throw new Error('package-lock.json is missing or is not JSON: restore it from git');
  // npm writes this file last, so an interrupted installation does not have it.
  const installed = readLock(join(root, 'node_modules', '.package-lock.json'));
  if (installed === null) return 'node_modules is missing';
  for (const [path, wanted] of Object.entries(lockfile.packages)) {
    if (path === '' || wanted.link) continue;
    const present = installed.packages[path];
    if (present === undefined) {
      if (mayBeAbsent(wanted, omit)) continue;
      return `${path} is missing`;
    }
    if (present.version !== wanted.version) return `${path} is ${present.version}, wanted ${wanted.version}`;
    if (present.integrity !== wanted.integrity) return `${path} is not the one of the lockfile`;
  }
  return null;
}

/** @param {LockedPackage} wanted @param {string[]} omit */
function mayBeAbsent(wanted, omit) {
  if (wanted.optional || wanted.devOptional) return true; // for another platform, or left out
  return (wanted.dev && omit.includes('dev')) || (wanted.peer && omit.includes('peer')) || false;
}

/** @param {string} file @returns {{ packages: Record<string, LockedPackage> } | null} */
function readLock(file) {
  if (!existsSync(file)) return null;
  try {
    const lock = JSON.parse(readFileSync(file, 'utf8'));
    return typeof lock.packages === 'object' && lock.packages !== null ? lock : null;
  } catch {
    return null; // cut short by a crash: the same as absent
  }
}

/**
 * Says what is wrong with the Node that the script would run on, or null.
 *
 * @param {{ version: string, platform: string, arch: string }} runtime
 * @returns {string | null}
 */
export function nodeProblem({ version, platform, arch }) {
  if (Number(version.split('.')[0]) >= REQUIRED_NODE_MAJOR) return null;
  return (
    `gym-model-proxy needs Node ${REQUIRED_NODE_MAJOR} or later; this is ${version}, and node_modules has none.\n` +
    (platform === 'linux' && (arch === 'x64' || arch === 'arm64')
      ? `npm left out its optional packages, the packaged Node among them. Try: npm ci --include=optional`
      : `There is a packaged Node for Linux on x64 and arm64; this is ${platform} on ${arch}. Install Node ` +
        `${REQUIRED_NODE_MAJOR} (for example: nvm install ${REQUIRED_NODE_MAJOR}), put it first on the PATH and try again.`)
  );
}

/** @param {string} root */
function install(root) {
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('js') ? [process.execPath, [npm]] : [npm || 'npm', []];
  const args = [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error', '--engine-strict=false'];
  // Output goes to stderr, so that the output of the script itself can be piped.
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (result.error) fail(`could not start npm: ${result.error.message}`);
  if (result.status !== 0) {
    fail(
      `npm ci ended with ${result.status ?? result.signal} (see above).\n` +
        'It needs the npm registry, or a filled npm cache, and write access to this folder. Try: npm ci',
    );
  }
}

/**
 * Checks the Node that npm will find first on the PATH of the script that follows.
 *
 * @param {string} root
 */
function checkRuntime(root) {
  const packaged = join(root, 'node_modules', '.bin', 'node');
  if (!existsSync(packaged)) {
    const problem = nodeProblem({ version: process.versions.node, platform: process.platform, arch: process.arch });
    if (problem !== null) fail(problem);
    return;
  }
  const probe = spawnSync(packaged, ['--version'], { encoding: 'utf8' });
  if (probe.status !== 0) {
    fail(
      `the Node that npm installed does not run here, it needs glibc (${(probe.error?.message ?? probe.stderr).trim()}).\n` +
        `With a Node >= ${REQUIRED_NODE_MAJOR} of your own on the PATH: npm ci --omit=optional, then try again.`,
    );
  }
}

/** @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`ensure-installed: ${message}\n`);
  process.exit(1);
}

function main() {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const omit = (process.env.npm_config_omit ?? '').split(/[\s,]+/).filter(Boolean);
  try {
    const why = whyInstall(root, omit);
    if (why !== null) {
      process.stderr.write(`Installing dependencies (${why}) ...\n`);
      install(root);
    }
  } catch (error) {
    fail(/** @type {Error} */ (error).message);
  }
  checkRuntime(root);
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) main();
