import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../support/ports.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const PACKED_SOURCES = [
  'bin',
  'config',
  'examples',
  'routes',
  'scripts',
  'src',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'LICENSE',
];

let work: string;
let tarball: string;
/** A project of somebody else's, with the tarball installed. */
let consumer: string;
let bin: string;

before(async () => {
  work = mkdtempSync(join(tmpdir(), 'pack-'));
  // A copy, so that dist/ does not appear in the checkout while other tests run.
  const source = join(work, 'source');
  mkdirSync(source);
  for (const name of PACKED_SOURCES) cpSync(join(root, name), join(source, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
  await run('npm', ['pack', '--pack-destination', work], { cwd: source });
  const { name, version } = manifest();
  tarball = join(work, `${name}-${version}.tgz`);

  consumer = join(work, 'consumer');
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{"name":"consumer","private":true}');
  const options = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', '--engine-strict=false'];
  await run('npm', ['install', ...options, tarball], { cwd: consumer });
  bin = join(consumer, 'node_modules', '.bin', 'gym-model-proxy');
});

after(() => rmSync(work, { recursive: true }));

function manifest(): { name: string; version: string } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

/** Every Node on the PATH: the project's own, and the machine's, which may be an older one. */
function nodesOnPath(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return [...new Set([process.execPath, ...folders.map((folder) => join(folder, 'node'))])].filter((path) =>
    existsSync(path),
  );
}

test('the tarball holds what runs and nothing else', async () => {
  const { stdout } = await run('tar', ['-tzf', tarball]);
  const files = stdout.trim().split('\n');
  const odd = files.filter(
    (file) => !/^package\/(bin\/.+\.mjs|dist\/.+|package\.json|LICENSE|README\.md|CHANGELOG\.md)$/.test(file),
  );
  assert.deepEqual(odd, []);
  assert.deepEqual(
    files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')),
    [],
  );
  for (const file of [
    'bin/gym-model-proxy.mjs',
    'dist/src/cli/main.js',
    'dist/package.json',
    'dist/src/trainer/index.d.ts',
    'LICENSE',
  ]) {
    assert.ok(files.includes(`package/${file}`), file);
  }
});

test('the library tells its types', async () => {
  writeFileSync(
    join(consumer, 'use.ts'),
    `import { type Advantage, computeAdvantages, LedgerClient } from 'gym-model-proxy/trainer';
export async function records(attempt: string): Promise<string> {
  const view = await new LedgerClient('http://proxy', { token: 't' }).close(attempt);
  return view.ok ? view.value.records.length : view.reasons[0]?.code ?? '';
}
export const advantages: Advantage[] | null = computeAdvantages([], { baseline: 'mean', normalize: true, clip: null });
`,
  );
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')];
  const options = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext', ...types];
  await assert.rejects(run(process.execPath, [tsc, ...options, 'use.ts'], { cwd: consumer }), (error: Error) => {
    const said = (error as Error & { stdout: string }).stdout;
    assert.equal(said, "use.ts(4,20): error TS2322: Type 'number' is not assignable to type 'string'.\n");
    return true;
  });
});

test('npx runs the installed command and its subcommands', async () => {
  const help = await run('npx', ['--no-install', 'gym-model-proxy', '--help'], { cwd: consumer });
  assert.match(help.stdout, /^Usage: gym-model-proxy /);
  for (const command of ['serve', 'worker', 'demo', 'doctor', 'ledger', 'rows', 'agent-key']) {
    assert.match(help.stdout, new RegExp(`^ +${command}\\b`, 'm'));
  }
  const doctor = await run('npx', ['--no-install', 'gym-model-proxy', 'doctor', '--help'], { cwd: consumer });
  assert.match(doctor.stdout, /^Usage: gym-model-proxy doctor /);
  const demo = await run('npx', ['--no-install', 'gym-model-proxy', 'demo'], { cwd: consumer });
  assert.match(demo.stdout, /5 records, 0 pending, 0 failures/);
  assert.match(
    demo.stdout,
    /slot 0 {2}group_g0 {7}reward 1 {2}baseline 0\.5 {2}advantage \+0\.5 {2}group_g0_s0 group_g0_s1/,
  );
});

test('the trainer kit is a library of the installed package', async () => {
  const script =
    "import('gym-model-proxy/trainer').then((kit) => console.log(typeof kit.buildRollout, typeof kit.LedgerClient))";
  const { stdout } = await run(process.execPath, ['-e', script], { cwd: consumer });
  assert.equal(stdout.trim(), 'function function');
});

test('every Node on the PATH runs the installed command and that of the checkout, also an older one', async () => {
  const { version } = manifest();
  const nodes = nodesOnPath();
  assert.ok(nodes.length > 0);
  for (const node of nodes) {
    for (const command of [bin, join(root, 'bin', 'gym-model-proxy.mjs')]) {
      const { stdout } = await run(node, [command, '--version'], { cwd: consumer });
      assert.equal(stdout, `${version}\n`, `${node} ${command}`);
    }
  }
});

async function untilAnswers(url: string, child: ChildProcess): Promise<Response> {
  while (child.exitCode === null) {
    const response = await fetch(url).catch(() => null); // refused until it listens
    if (response !== null) return response;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`ended with ${child.exitCode} before it answered`);
}

test('the installed proxy serves, and SIGTERM to an older Node in front of it ends it in order', async () => {
  const node = nodesOnPath().at(-1)!;
  const port = await freePort();
  const env = {
    ...process.env,
    GYM_PROXY_PORT: String(port),
    GYM_PROXY_CONTROL_TOKEN: 'a-control-token-for-this-test',
  };
  const child = spawn(node, [bin, 'serve'], { cwd: consumer, env, stdio: 'ignore' });
  try {
    const live = await untilAnswers(`http://127.0.0.1:${port}/health/live`, child);
    assert.equal(live.status, 200);
    // The ledger's thread is a file of its own: it runs from dist/ as well.
    assert.equal(existsSync(join(consumer, 'data', 'ledger.db')), true);
    const ledger = await fetch(`http://127.0.0.1:${port}/ledger/some-attempt`, {
      headers: { authorization: 'Bearer a-control-token-for-this-test' },
    });
    assert.equal(ledger.status, 200);
    const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])));
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health/live`));
  } finally {
    child.kill('SIGKILL');
  }
});
