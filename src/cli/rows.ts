import { once } from 'node:events';
import { Command } from 'commander';
import { runRows } from '../trainer/rows-command.ts';
import type { RowsOptions } from '../trainer/rows-run/rows-options.ts';
import { controlToken } from './control-client.ts';

/** `gym-model-proxy rows`: from ledger, staged tokens and result to training rows. */
export function rowsCommand(): Command {
  return new Command('rows')
    .description(
      'Make training rows of attempts, as JSON lines: from the ledger, the staged tokens and what the harness returned. Exit code 3 where a ' +
        'rollout gives no rows; see docs/trainer.md.',
    )
    .summary('make training rows of an attempt')
    .option('--ledger <file|url>', 'ledger of the attempt: a file, or /ledger/<attempt> of a running service')
    .option('--staged <file|url>', 'staged tokens: JSON lines, or the base URL of a reference worker')
    .option('--result <file>', 'what the harness returned, as JSON')
    .option('--group <file>', 'the prompt group: siblings, rewards, options')
    .option('--policy <name>', 'returned_history, all_captured, declared, or module:function')
    .option('--out <file>', 'write the rows to this file, instead of standard output')
    .option('--explain', 'draw the forest, the selection and the rows, and say why a rollout is masked')
    .option('--json', 'print a summary for programs')
    .option(
      '--token <token>',
      'control token, for a ledger by URL (GYM_PROXY_CONTROL_TOKEN, or a file named in GYM_PROXY_CONTROL_TOKEN_FILE)',
    )
    .option('--worker-token <key>', "the worker's key, where it asks for one")
    .action(async (options: RowsOptions) => {
      process.exitCode = await runRows(
        { ...options, token: controlToken(options) },
        {
          print: async (text) => {
            if (!process.stdout.write(text)) await once(process.stdout, 'drain');
          },
          warn: (text) => process.stderr.write(text),
          directory: process.cwd(),
        },
      );
    });
}
