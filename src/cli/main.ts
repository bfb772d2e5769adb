import { Command } from 'commander';
import { ConfigError } from '../../config/load.ts';
import { LedgerUnavailable } from '../ledger/ledger.ts';
import { agentKeyCommand } from './agent-key.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { ledgerCommand } from './ledger.ts';
import { lineageCommand } from './lineage.ts';
import { rowsCommand } from './rows.ts';
import { serveCommand } from './serve.ts';
import { UsageError } from './usage-error.ts';
import { packageVersion } from './version.ts';
import { workerCommand } from './worker.ts';

const program = new Command('gym-model-proxy')
  .description(
    'Model server between agents and the inference workers of a reinforcement-learning run: it captures calls, links them into ' +
      'lineages and serves the ledger to the trainer.',
  )
  .version(packageVersion())
  .showHelpAfterError('(add --help for what there is)')
  .addHelpText('after', '\nNew here? Start with: gym-model-proxy demo')
  .configureOutput({ outputError: (text, write) => write(text) });

for (const command of [
  serveCommand(),
  workerCommand(),
  demoCommand(),
  doctorCommand(),
  ledgerCommand(),
  rowsCommand(),
  lineageCommand(),
  agentKeyCommand(),
]) {
  program.addCommand(command);
}

try {
  await program.parseAsync();
} catch (error) {
  // What a person can mend is said in words; a defect keeps its stack.
  console.error(
    error instanceof ConfigError || error instanceof UsageError || error instanceof LedgerUnavailable
      ? `gym-model-proxy: ${error.message}`
      : error,
  );
  process.exitCode = 1;
}
