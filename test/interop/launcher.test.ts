import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { freePort } from '../support/ports.ts';
import { CONTROL_TOKEN, send } from '../support/stack.ts';
import { Agent } from './support/agent.ts';
import { startProcess } from './support/process.ts';
import { describeWith, pythonEnvironment } from './support/python-environment.ts';

/** The model server of docs/peers.md, started as NeMo Gym starts one: its configuration, with its interpolations, in the environment. */

const environment = await pythonEnvironment('peer');
const ROOT = join(import.meta.dirname, '..', '..');

function codeOfDocs(language: string): string {
  const docs = readFileSync(join(ROOT, 'docs', 'peers.md'), 'utf8');
  const [, code] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(docs) ?? [];
  assert.ok(code, `docs/peers.md has no ${language}`);
  return code;
}

describeWith(environment, 'the launcher of docs/peers.md', (python) => {
  test('starts a proxy that captures', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gym-proxy-interop-'));
    writeFileSync(join(folder, 'app.py'), codeOfDocs('python'));
    const command = join(folder, 'gym-model-proxy');
    writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'src', 'cli', 'main.ts')}' "$@"\n`);
    chmodSync(command, 0o755);
    const worker = await startReferenceWorker({ apiKey: 'worker-key', models: ['policy'] });
    const port = await freePort();
    // What Gym adds to an entry before it starts it, and where the interpolations of the example lead.
    const yaml = codeOfDocs('yaml')
      .replace('entrypoint: app.py', `entrypoint: app.py\n      host: 127.0.0.1\n      port: ${port}`)
      .replace(/sqlite:\S+/, `sqlite:${join(folder, 'ledger.db')}`);
    assert.ok(yaml.includes(folder));
    const proxy = await startProcess(python, [join(folder, 'app.py')], {
      ready: /"url":"http/,
      env: {
        PATH: `${folder}${delimiter}${process.env.PATH}`,
        NEMO_GYM_TOKEN_CAPTURE_CONTROL_TOKEN: CONTROL_TOKEN,
        NEMO_GYM_CONFIG_PATH: 'policy_model',
        NEMO_GYM_CONFIG_DICT: `policy_base_url: ${worker.url}/v1\npolicy_api_key: worker-key\npolicy_model_name: policy\n${yaml}`,
      },
    });
    t.after(async () => {
      await proxy.stop();
      await worker.close();
      rmSync(folder, { recursive: true });
    });
    const url = `http://127.0.0.1:${port}`;
    const agent = new Agent(url, '12-0').says('Do the task.');
    await agent.turn({ dialect: 'chat' });
    await agent.says('Go on.').turn({ dialect: 'responses' });
    const path = '/training-token-capture/control/rollouts/12-0/manifest';
    const manifest = await send('GET', url + path, undefined, { authorization: `Bearer ${CONTROL_TOKEN}` });
    assert.equal(manifest.json.schema_version, 2);
    assert.equal(manifest.json.rollout_id, '12-0');
    assert.equal(manifest.json.records.length, 2);
    assert.equal(manifest.json.records[1].parent_call_id, manifest.json.records[0].model_call_id);
  });
});
