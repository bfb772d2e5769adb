import { type Command, Option } from 'commander';
import { configKeys, defaultText } from '../../config/describe.ts';
import { readEnvironment } from '../../config/environment.ts';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';

/** Adds `--config FILE` and one flag for each configuration key. */
export function addConfigOptions(command: Command): Command {
  command.option('--config <file>', 'YAML file with the configuration');
  for (const key of configKeys()) {
    command.addOption(
      new Option(`${key.flag} <value>`, `${key.description} (${key.env}; default: ${defaultText(key)})`),
    );
  }
  return command;
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
