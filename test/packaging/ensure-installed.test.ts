import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { nodeProblem, whyInstall } from '../../scripts/ensure-installed.mjs';

const root = join(import.meta.dirname, '..', '..');

const LOCKED = {
  '': { name: 'project', version: '1.0.0' },
  'node_modules/kept': { version: '1.0.0', integrity: 'sha512-kept' },
  'node_modules/tool': { version: '2.0.0', integrity: 'sha512-tool', dev: true },
  'node_modules/other-platform': { version: '3.0.0', integrity: 'sha512-other', optional: true },
};
const { '': _project, 'node_modules/other-platform': _other, ...INSTALLED } = LOCKED;

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'ensure-installed-'));
  write('package-lock.json', JSON.stringify({ packages: LOCKED }));
});

afterEach(() => rmSync(project, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}

function installed(packages: Record<string, unknown>): void {
  write('node_modules/.package-lock.json', JSON.stringify({ packages }));
}

describe('whyInstall', () => {
  test('nothing is to be done when node_modules holds the lockfile', () => {
    installed(INSTALLED);
    assert.equal(whyInstall(project), null);
  });

  test('more than the lockfile asks for does no harm', () => {
    installed({ ...INSTALLED, 'node_modules/extra': { version: '1.0.0' } });
    assert.equal(whyInstall(project), null);
  });

  test('no node_modules, or an interrupted installation', () => {
    assert.equal(whyInstall(project), 'node_modules is missing');
    write('node_modules/.package-lock.json', '{"packages": {');
    assert.equal(whyInstall(project), 'node_modules is missing');
  });

  test('a missing, another, and a replaced package', () => {
    installed({ 'node_modules/kept': LOCKED['node_modules/kept'] });
    assert.equal(whyInstall(project), 'node_modules/tool is missing');
    installed({ ...INSTALLED, 'node_modules/kept': { version: '0.9.0', integrity: 'sha512-old' } });
    assert.equal(whyInstall(project), 'node_modules/kept is 0.9.0, wanted 1.0.0');
    installed({ ...INSTALLED, 'node_modules/kept': { version: '1.0.0', integrity: 'sha512-forged' } });
    assert.equal(whyInstall(project), 'node_modules/kept is not the one of the lockfile');
  });

  test('an installation for production lacks nothing when npm omits dev', () => {
    installed({ 'node_modules/kept': LOCKED['node_modules/kept'] });
    assert.equal(whyInstall(project, ['dev']), null);
  });

  test('a broken lockfile is an error', () => {
    write('package-lock.json', '<<<<<<< HEAD');
    assert.throws(() => whyInstall(project), /package-lock\.json is missing or is not JSON/);
  });

  test('the own checkout needs nothing while its tests run', () => {
    assert.equal(whyInstall(root), null);
  });
});

describe('nodeProblem', () => {
  test('24 and later will do', () => {
    assert.equal(nodeProblem({ version: '24.0.0', platform: 'darwin', arch: 'arm64' }), null);
    assert.equal(nodeProblem({ version: '26.1.0', platform: 'win32', arch: 'x64' }), null);
  });

  test('an older one is told what to install', () => {
    const message = nodeProblem({ version: '20.20.2', platform: 'darwin', arch: 'arm64' });
    assert.match(message!, /needs Node 24 or later; this is 20\.20\.2/);
    assert.match(message!, /this is darwin on arm64\. Install Node 24/);
  });

  test('on Linux the packaged Node can only have been left out', () => {
    const message = nodeProblem({ version: '20.20.2', platform: 'linux', arch: 'x64' });
    assert.match(message!, /Try: npm ci --include=optional/);
  });
});

/** A stand-in for npm: notes its arguments, then installs what the lockfile says, with a Node that runs `nodeScript`. */
function fakeNpm(nodeScript: string, exitCode = 0): string {
  const lock = JSON.stringify({ packages: INSTALLED });
  write(
    'npm-cli.js',
    `const fs = require('node:fs');
     fs.appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');
     if (${exitCode} !== 0) { console.error('npm error E404'); process.exit(${exitCode}); }
     fs.mkdirSync('node_modules/.bin', { recursive: true });
     fs.writeFileSync('node_modules/.package-lock.json', ${JSON.stringify(lock)});
     fs.writeFileSync('node_modules/.bin/node', ${JSON.stringify(nodeScript)}, { mode: 0o755 });`,
  );
  return join(project, 'npm-cli.js');
}

function runScript(npm: string): { status: number | null; stdout: string; stderr: string } {
  mkdirSync(join(project, 'scripts'), { recursive: true });
  const script = join(project, 'scripts', 'ensure-installed.mjs');
  cpSync(join(root, 'scripts', 'ensure-installed.mjs'), script);
  chmodSync(script, 0o755);
  return spawnSync(process.execPath, [script], { encoding: 'utf8', env: { ...process.env, npm_execpath: npm } });
}

describe('the script', () => {
  const works = '#!/bin/sh\necho v24.0.0\n';

  test('installs from the lockfile once, and keeps standard output free', () => {
    const npm = fakeNpm(works);
    const first = runScript(npm);
    assert.deepEqual([first.status, first.stdout], [0, '']);
    assert.equal(first.stderr, 'Installing dependencies (node_modules is missing) ...\n');
    const second = runScript(npm);
    assert.deepEqual([second.status, second.stderr], [0, '']);
    const calls = readFileSync(join(project, 'npm-calls'), 'utf8').trim().split('\n');
    assert.equal(calls.length, 1);
    assert.match(calls[0]!, /^ci /);
  });

  test('passes on what npm says, and how to go on', () => {
    const { status, stderr } = runScript(fakeNpm(works, 7));
    assert.equal(status, 1);
    assert.match(stderr, /npm error E404/);
    assert.match(stderr, /npm ci ended with 7 \(see above\)/);
    assert.equal(existsSync(join(project, 'node_modules')), false);
  });

  test('says so when the packaged Node does not run on this machine', () => {
    const { status, stderr } = runScript(fakeNpm('#!/bin/sh\necho "not found: ld-linux" >&2\nexit 127\n'));
    assert.equal(status, 1);
    assert.match(stderr, /it needs glibc \(not found: ld-linux\)/);
    assert.match(stderr, /npm ci --omit=optional/);
  });
});
