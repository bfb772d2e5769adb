import { Command } from 'commander';

export function ledgerCommand(): Command {
  return new Command('ledger');
}
