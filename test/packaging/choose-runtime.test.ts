import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseRuntime } from '../../bin/choose-runtime.mjs';

const linux = { platform: 'linux', arch: 'x64', packagedNode: '/app/node' };

test('a Node of 24 or later runs the program itself', () => {
  assert.deepEqual(chooseRuntime({ ...linux, version: '24.0.0' }), { kind: 'here' });
  assert.deepEqual(chooseRuntime({ ...linux, version: '26.3.1', packagedNode: null }), { kind: 'here' });
});

test('an older one hands over to the packaged Node', () => {
  assert.deepEqual(chooseRuntime({ ...linux, version: '20.20.2' }), { kind: 'elsewhere', node: '/app/node' });
  assert.deepEqual(chooseRuntime({ ...linux, version: '8.17.0' }), { kind: 'elsewhere', node: '/app/node' });
});

test('without a packaged Node it says what is needed', () => {
  const choice = chooseRuntime({ version: '22.9.0', platform: 'darwin', arch: 'arm64', packagedNode: null });
  assert.equal(choice.kind, 'nowhere');
  assert.match(
    choice.kind === 'nowhere' ? choice.message : '',
    /needs Node 24 or later; this is 22\.9\.0 on darwin arm64/,
  );
});
