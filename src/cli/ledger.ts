import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { type LedgerView, readLedgerView } from '../trainer/ledger-view.ts';
import { addControlOptions, askControl } from './control-client.ts';
import { drawLedger } from './draw-ledger.ts';
import { UsageError } from './usage-error.ts';

/** Exit code of `close` where calls were still pending when the time was up. */
const INCOMPLETE = 2;

/** `gym-model-proxy ledger show|close|export <attempt>`: what the trainer sees, for a person. */
export function ledgerCommand(): Command {
  const command = new Command('ledger')
    .description('Look at the ledger of an attempt in a running service, close it, or write it to a file.')
    .summary('show, close or export the ledger of an attempt');
  command.addCommand(
    addControlOptions(
      new Command('show')
        .description("Draw the attempt's calls, and say why each root is one.")
        .summary("draw the attempt's calls")
        .argument('<attempt>'),
    )
      .option('--json', 'print the ledger as JSON')
      .action(async (attempt: string, options: Record<string, unknown>) => {
        print(await askControl(options, 'GET', `/ledger/${encodeURIComponent(attempt)}`), options.json === true);
      }),
  );
  command.addCommand(
    addControlOptions(
      new Command('close')
        .description(
          'Close the attempt: it takes no further calls. Waits for those in flight, then draws its ledger. Exit code 2 where calls are still pending.',
        )
        .summary('close the attempt and wait for its calls')
        .argument('<attempt>'),
    )
      .option('--wait-s <seconds>', 'longest time to wait for calls in flight', '300')
      .option('--json', 'print the ledger as JSON')
      .action(async (attempt: string, options: Record<string, unknown>) => {
        const path = `/ledger/${encodeURIComponent(attempt)}/close?wait_s=${encodeURIComponent(String(options.waitS))}`;
        const text = await askControl(options, 'POST', path);
        print(text, options.json === true);
        if (!(JSON.parse(text) as { complete: boolean }).complete) process.exitCode = INCOMPLETE;
      }),
  );
  command.addCommand(
    addControlOptions(
      new Command('export')
        .description('Write the ledger to a file, byte for byte as the trainer gets it.')
        .summary('write the ledger to a file')
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
  else console.log(drawLedger(viewOf(text)).join('\n'));
}

function viewOf(text: string): LedgerView {
  const view = readLedgerView(JSON.parse(text));
  if (!view.ok)
    throw new UsageError(
      `the service answered with something that is no ledger: ${view.reasons.map(({ message }) => message).join('; ')}`,
    );
  return view.value;
}
