import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../support/ports.ts';
import { startStack } from '../support/stack.ts';
import { pythonProcessEnvironment } from './support/process.ts';
import { describeWith, PYTHON_FOLDER, pythonEnvironment } from './support/python-environment.ts';

/** The package's own tests of the wire, pointed at us (python/released_suite). */

const environment = await pythonEnvironment('peer');
/** Their control token, which their tests spell out. */
const THEIR_TOKEN = 'test-control-token';

describeWith(environment, 'the tests of the published package', (python) => {
  test('44 pass against this proxy, and 18 fail for the reasons that python/released_suite/conftest.py gives', async () => {
    const port = await freePort();
    const stack = await startStack({
      config: {
        'capture.schema_version': '2',
        'control.token': THEIR_TOKEN,
        workers: `http://127.0.0.1:${port}`,
      },
    });
    const { code, output } = await pytest(python, {
      PROXY_URL: stack.proxy.url,
      CONTROL_TOKEN: THEIR_TOKEN,
      ENGINE_PORT: String(port),
    });
    await stack.close();
    assert.equal(code, 0, output);
    const [, passed, differing] = /(\d+) passed, (\d+) xfailed/.exec(output) ?? [];
    assert.deepEqual([Number(passed), Number(differing)], [44, 18], output);
  });
});

function pytest(python: string, env: Readonly<Record<string, string>>): Promise<{ code: number; output: string }> {
  const options = [
    '-q',
    '-rxX',
    '--tb=short',
    '-p',
    'no:cacheprovider',
    '-c',
    '/dev/null',
    '-o',
    'asyncio_mode=auto',
    '-W',
    'ignore',
  ];
  const folder = join(PYTHON_FOLDER, 'released_suite');
  const args = ['-m', 'pytest', ...options, '--rootdir', folder, folder];
  return new Promise((resolve) => {
    const child = execFile(
      python,
      args,
      { env: { ...pythonProcessEnvironment(), ...env }, maxBuffer: 16 * 1024 * 1024 },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}
