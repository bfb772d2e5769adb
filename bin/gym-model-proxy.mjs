#!/usr/bin/env node
// The package's command. In a checkout it runs the TypeScript source; installed from npm it runs dist/, because Node does
// not strip types under node_modules. On an older Node it starts itself again with the packaged one.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chooseRuntime } from './choose-runtime.mjs';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));

/** @returns {string | null} */
function findPackagedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`);
    const node = join(dirname(manifest), 'bin', 'node');
    return existsSync(node) ? node : null;
  } catch {
    return null; // npm does not install it on other platforms
  }
}

/** @param {string} node */
function runElsewhere(node) {
  const child = spawn(node, [self, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal signals both processes, a supervisor only this one: pass on what it says, and end as the child ends.
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`gym-model-proxy: could not start ${node}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of SIGNALS) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

const source = join(root, 'src', 'cli', 'main.ts');
const main = existsSync(source) ? source : join(root, 'dist', 'src', 'cli', 'main.js');

const runtime = chooseRuntime({
  version: process.versions.node,
  platform: process.platform,
  arch: process.arch,
  packagedNode: findPackagedNode(),
});
if (runtime.kind === 'here') await import(pathToFileURL(main).href);
else if (runtime.kind === 'elsewhere') runElsewhere(runtime.node);
else {
  process.stderr.write(`${runtime.message}\n`);
  process.exitCode = 1;
}
