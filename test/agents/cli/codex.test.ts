import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { type InstalledPackages, installPackages } from '../harness/packages.ts';
import { runScenario, type World } from '../harness/scenario.ts';

let packages: InstalledPackages;
before(async () => {
  packages = await installPackages('cli');
});

async function codex(world: World, prompt: string, settings = '') {
  const folder = join(world.home, '.codex');
  await mkdir(folder);
  await writeFile(
    join(folder, 'config.toml'),
    `model = "policy"
model_provider = "gym"
approval_policy = "never"
sandbox_mode = "danger-full-access"
${settings}
[model_providers.gym]
name = "gym"
base_url = "${world.base}/v1"
wire_api = "responses"
env_key = "GYM_KEY"
`,
  );
  return world.exec(packages.bin('codex'), ['exec', '--skip-git-repo-check', prompt], { env: { GYM_KEY: 'none' } });
}
const exec = (id: string, cmd: string) => ({ id, name: 'exec_command', arguments: { cmd } });
describe('Codex CLI', { concurrency: true }, () => {
  test('task', async () => {
    await runScenario({
      agent: 'Codex CLI',
      version: packages.version('@openai/codex'),
      dialect: 'Responses',
      run: 'task',
      calls: [
        {
          id: 'c1',
          answer: { reasoning: 'Let me see.', tool_calls: [exec('call_1', 'echo out-$((1+0))')] },
          expect: { root: { cause: 'first_call' } },
        },
        { id: 'c2', answer: { content: 'ok' }, expect: { parent: 'c1' }, sees: ['out-1'] },
      ],
      drive: async (world) => {
        const child = await codex(world, 'Do the task.');
        assert.equal(child.code, 0, child.stderr);
        assert.equal(child.stdout, 'ok\n');
      },
    });
  });
});
