import { Command } from 'commander';
import { addWorkerOptions, runWorker } from './worker-options.ts';

/** `gym-model-proxy worker`: the reference worker. */
export function workerCommand(): Command {
  return addWorkerOptions(
    new Command('worker')
      .description(
        'Run the reference worker: the inference side of the protocol with a toy tokenizer and a scripted or echoing model, and its own ' +
          'store of staged tokens. For trying out and for tests; it needs no GPU.',
      )
      .summary('run the reference worker, a stand-in without a GPU'),
  ).action(runWorker);
}
