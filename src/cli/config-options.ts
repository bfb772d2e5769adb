import { type Command, Option } from 'commander';
import { type ConfigKey, configKeys, defaultText } from '../../config/describe.ts';
import { readEnvironment } from '../../config/environment.ts';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';

/** Adds `--config FILE` and one flag for each configuration key, or only for those named: a command shows what it reads. */
export function addConfigOptions(command: Command, paths?: readonly string[]): Command {
  command.option('--config <file>', 'YAML file with the configuration (GYM_PROXY_CONFIG)');
  for (const key of configKeys()) {
    if (paths !== undefined && !paths.includes(key.path)) continue;
    const option = new Option(`${key.flag} <value>`, describeKey(key));
    command.addOption(paths === undefined ? option.helpGroup(`${sectionOf(key)}:`) : option);
  }
  return command;
}

function describeKey(key: ConfigKey): string {
  const values = key.values === null ? '' : `: ${key.values.join(', ')}`;
  const variable = key.secret ? `${key.env}, or a file named in ${key.env}_FILE` : key.env;
  return `${key.description}${values} (${variable}; default: ${defaultText(key)})`;
}

/** `ledger.url` stands under "Ledger", `workers` under "Workers". */
function sectionOf({ path }: ConfigKey): string {
  const section = path.split('.', 1)[0] as string;
  return `${section[0]?.toUpperCase()}${section.slice(1)}`;
}

/** The configuration from file, environment and flags. Throws ConfigError. */
export function configFrom(options: Record<string, unknown>): Config {
  const flags: Record<string, string> = {};
  for (const key of configKeys()) {
    const value = options[new Option(`${key.flag} <value>`).attributeName()];
    if (typeof value === 'string') flags[key.path] = value;
  }
  const env = readEnvironment();
  return loadConfig({ file: (options.config as string | undefined) ?? env.GYM_PROXY_CONFIG, env, flags });
}
