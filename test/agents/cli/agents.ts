import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildResult } from '../harness/child.ts';
import { type InstalledPackages, installPackages } from '../harness/packages.ts';
import type { World } from '../harness/scenario.ts';

/** One command-line agent: how it is set up, and how it is run. */
export interface CliAgent {
  readonly agent: string;
  readonly version: string;
  readonly dialect: string;
  /** Writes its configuration. */
  setUp(world: World): Promise<void>;
  /** Runs it with a prompt in a new conversation, or in the last one. */
  run(world: World, prompt: string, options?: RunOptions): Promise<ChildResult>;
}

export interface RunOptions {
  readonly resume?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** Settings that differ between scenarios, in the agent's own words. */
export type Settings = Readonly<Record<string, unknown>>;

const MODEL = 'policy';
/** None is asked for; an empty one is refused by the clients themselves. */
const KEY = 'none';

export async function codex(settings: { top?: string; provider?: string } = {}): Promise<CliAgent> {
  const packages = await installPackages('cli');
  return {
    ...named(packages, 'Codex CLI', '@openai/codex', 'Responses'),
    async setUp({ home, base }) {
      await mkdir(join(home, '.codex'));
      await writeFile(
        join(home, '.codex', 'config.toml'),
        `model = "${MODEL}"
model_provider = "gym"
approval_policy = "never"
sandbox_mode = "danger-full-access"
${settings.top ?? ''}

[model_providers.gym]
name = "gym"
base_url = "${base}/v1"
wire_api = "responses"
env_key = "GYM_KEY"
${settings.provider ?? ''}
`,
      );
    },
    run(world, prompt, { resume = false, env = {} } = {}) {
      const args = ['exec', '--skip-git-repo-check', ...(resume ? ['resume', '--last'] : []), prompt];
      return world.exec(packages.bin('codex'), args, { env: { GYM_KEY: KEY, ...env } });
    },
  };
}

export async function claudeCode(settings: Readonly<Record<string, string>> = {}): Promise<CliAgent> {
  const packages = await installPackages('cli');
  return {
    ...named(packages, 'Claude Code', '@anthropic-ai/claude-code', 'Messages'),
    setUp: async () => undefined,
    run(world, prompt, { resume = false, env = {} } = {}) {
      const args = ['-p', ...(resume ? ['-c'] : []), prompt, '--dangerously-skip-permissions'];
      return world.exec(packages.bin('claude'), args, {
        env: {
          ANTHROPIC_BASE_URL: world.base,
          ANTHROPIC_AUTH_TOKEN: KEY,
          ANTHROPIC_MODEL: MODEL,
          ANTHROPIC_SMALL_FAST_MODEL: MODEL,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
          IS_SANDBOX: '1', // else it will not skip permissions for root
          ...settings,
          ...env,
        },
      });
    },
  };
}

export async function opencode(settings: { provider?: Settings; context?: number } = {}): Promise<CliAgent> {
  const packages = await installPackages('cli');
  return {
    ...named(packages, 'opencode', 'opencode-ai', 'Chat'),
    async setUp({ work, base }) {
      const limit = { context: settings.context ?? 100_000, output: 4000 };
      const config = {
        model: `gym/${MODEL}`,
        small_model: `gym/${MODEL}`,
        permission: { bash: 'allow' },
        autoupdate: false,
        share: 'disabled',
        provider: {
          gym: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${base}/v1`, apiKey: KEY, ...settings.provider },
            models: { [MODEL]: { tool_call: true, reasoning: true, limit } },
          },
        },
      };
      await writeFile(join(work, 'opencode.json'), JSON.stringify(config));
    },
    run(world, prompt, { resume = false, env = {} } = {}) {
      const args = ['run', ...(resume ? ['-c'] : []), prompt];
      return world.exec(packages.bin('opencode'), args, { env: { OPENCODE_DISABLE_MODELS_FETCH: '1', ...env } });
    },
  };
}

export async function pi(
  settings: Settings = {},
): Promise<CliAgent & { rpc(world: World, prompt: string, until: RegExp): Promise<ChildResult> }> {
  const packages = await installPackages('cli');
  const model = ['--provider', 'gym', '--model', MODEL];
  return {
    ...named(packages, 'pi', '@mariozechner/pi-coding-agent', 'Chat'),
    async setUp({ home, base }) {
      const folder = join(home, '.pi', 'agent');
      await mkdir(folder, { recursive: true });
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      const limits = { contextWindow: 100_000, maxTokens: 4000 };
      const models = [{ id: MODEL, name: MODEL, reasoning: true, input: ['text'], ...limits, cost }];
      const providers = { gym: { baseUrl: `${base}/v1`, api: 'openai-completions', apiKey: KEY, models } };
      await writeFile(join(folder, 'models.json'), JSON.stringify({ providers }));
      await writeFile(join(folder, 'settings.json'), JSON.stringify(settings));
    },
    run(world, prompt, { resume = false, env = {} } = {}) {
      return world.exec(packages.bin('pi'), ['-p', ...(resume ? ['-c'] : []), ...model, prompt], { env });
    },
    /** With its JSON-lines interface: `-p` ends with the first answer, also where pi itself goes on after it has compacted. */
    rpc(world, prompt, until) {
      return world.exec(packages.bin('pi'), ['--mode', 'rpc', ...model], {
        stdin: `${JSON.stringify({ type: 'prompt', message: prompt })}\n`,
        endInputAt: until,
      });
    },
  };
}

function named(packages: InstalledPackages, agent: string, name: string, dialect: string) {
  return { agent, version: packages.version(name), dialect };
}
