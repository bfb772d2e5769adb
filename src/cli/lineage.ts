import { Command } from 'commander';

export function lineageCommand(): Command {
  return new Command('lineage');
}
