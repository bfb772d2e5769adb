import { Command } from 'commander';
import { addWorkerOptions, runWorker } from './worker-options.ts';

/** `gym-model-proxy worker`: the reference worker. */
export function workerCommand(): Command {
  return addWorkerOptions(
    new Command('worker').description(
      'run the reference worker: the protocol without a GPU, for trying out and for tests',
    ),
  ).action(runWorker);
}
