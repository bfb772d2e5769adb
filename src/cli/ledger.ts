import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { addControlOptions, askControl } from './control-client.ts';
import { drawForest, type LedgerJson } from './draw-forest.ts';

/** `gym-model-proxy ledger show|close|export <attempt>`: what the trainer sees, for a person. */
export function ledgerCommand(): Command {
  const command = new Command('ledger').description(
    'look at the ledger of an attempt, close it, or write it to a file',
  );
  command.addCommand(
    addControlOptions(new Command('show').description("draw the attempt's call forest").argument('<attempt>'))
      .option('--json', 'print the ledger itself')
      .action(async (attempt: string, options: Record<string, unknown>) => {
        print(await askControl(options, 'GET', `/ledger/${encodeURIComponent(attempt)}`), options.json === true);
      }),
  );
  command.addCommand(
    addControlOptions(
      new Command('close').description('close the attempt, wait for its calls, draw its forest').argument('<attempt>'),
    )
      .option('--wait-s <seconds>', 'longest time to wait', '300')
      .option('--json', 'print the ledger itself')
      .action(async (attempt: string, options: Record<string, unknown>) => {
        const path = `/ledger/${encodeURIComponent(attempt)}/close?wait_s=${encodeURIComponent(String(options.waitS))}`;
        const text = await askControl(options, 'POST', path);
        print(text, options.json === true);
        if (!(JSON.parse(text) as LedgerJson).complete) process.exitCode = 2;
      }),
  );
  command.addCommand(
    addControlOptions(
      new Command('export')
        .description('write the ledger, as it is served, to a file')
        .argument('<attempt>')
        .argument('<file>'),
    ).action(async (attempt: string, file: string, options: Record<string, unknown>) => {
      writeFileSync(file, await askControl(options, 'GET', `/ledger/${encodeURIComponent(attempt)}`));
    }),
  );
  return command;
}

function print(text: string, json: boolean): void {
  if (json) console.log(text);
  else for (const line of drawForest(JSON.parse(text) as LedgerJson)) console.log(line);
}
