import { Command } from 'commander';

export function rowsCommand(): Command {
  return new Command('rows');
}
