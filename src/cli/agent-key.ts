import { Command } from 'commander';
import { mintAgentKey } from '../access.ts';
import { checkAttempt } from '../call/identify-attempt.ts';
import { addConfigOptions, configFrom } from './config-options.ts';
import { UsageError } from './usage-error.ts';

/** `gym-model-proxy agent-key <attempt>...`: mints the keys of attempts, without a call. */
export function agentKeyCommand(): Command {
  return addConfigOptions(
    new Command('agent-key')
      .description(
        'Mint the key with which an agent may use one attempt, where the service requires keys (agents.key_secret). Asks nobody: ' +
          'the trainer can do it before the service knows the attempt.',
      )
      .summary('mint the keys that agents need for their attempts')
      .argument('<attempt...>', 'names of attempts'),
    ['agents.key_secret'],
  )
    .option('--json', 'print one JSON object, the keys by attempt, instead of one key per line')
    .action((attempts: string[], options: Record<string, unknown>) => {
      const secret = configFrom(options).agents.key_secret;
      if (secret === null) throw new UsageError('agents.key_secret (GYM_PROXY_AGENT_KEY_SECRET) is not set.');
      const keys = attempts.map((attempt) => {
        const problem = checkAttempt(attempt);
        if (problem !== null) throw new UsageError(`${attempt}: ${problem.message}`);
        return [attempt, mintAgentKey(secret, attempt)] as const;
      });
      if (options.json === true) console.log(JSON.stringify(Object.fromEntries(keys)));
      else for (const [, key] of keys) console.log(key);
    });
}
