import { Command } from 'commander';
import { ConfigError } from '../../config/load.ts';
import { LedgerUnavailable } from '../ledger/ledger.ts';
import { isSystemError } from '../system-error.ts';
import { UsageError } from './usage-error.ts';
import { packageVersion } from './version.ts';

/** Each loads what it needs when it is asked for: the service does not carry the demo's client around. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  worker: async () => (await import('./worker.ts')).workerCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  ledger: async () => (await import('./ledger.ts')).ledgerCommand(),
  rows: async () => (await import('./rows.ts')).rowsCommand(),
  lineage: async () => (await import('./lineage.ts')).lineageCommand(),
  'agent-key': async () => (await import('./agent-key.ts')).agentKeyCommand(),
};

const program = new Command('gym-model-proxy')
  .description(
    'Model server between agents and the inference workers of a reinforcement-learning run: it captures calls, links them into ' +
      'lineages and serves the ledger to the trainer.',
  )
  .version(packageVersion())
  .showHelpAfterError('(add --help for what there is)')
  .addHelpText('after', '\nNew here? Start with: gym-model-proxy demo')
  .configureOutput({ outputError: (text, write) => write(text) });

const asked = process.argv[2] ?? '';
// Help, and a word that is no command, need all of them.
for (const name of Object.hasOwn(COMMANDS, asked) ? [asked] : Object.keys(COMMANDS))
  program.addCommand(await (COMMANDS[name] as () => Promise<Command>)());

function isForPeople(error: unknown): error is Error {
  if (error instanceof ConfigError || error instanceof UsageError || error instanceof LedgerUnavailable) return true;
  return isSystemError(error);
}

try {
  await program.parseAsync();
} catch (error) {
  // What a person can mend is said in words; a defect keeps its stack.
  console.error(isForPeople(error) ? `gym-model-proxy: ${error.message}` : error);
  process.exitCode = 1;
}
