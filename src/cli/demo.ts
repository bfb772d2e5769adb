import closeWithGrace from 'close-with-grace';
import { Command } from 'commander';
import { runDemo, startDemo } from '../demo/run-demo.ts';

/** `gym-model-proxy demo`: the main job on embedded defaults. */
export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Run a worker, the service and an example agent together: five calls become two training rows, step by step. Needs nothing else.',
    )
    .summary('watch five calls become two training rows')
    .option('--keep', 'leave worker and service running afterwards, and print their addresses')
    .action(async (options: { keep?: boolean }) => {
      const demo = await startDemo();
      process.exitCode = await runDemo(demo, (text) => process.stdout.write(text));
      if (options.keep !== true) {
        await demo.close();
        return;
      }
      console.log(
        [
          '',
          `agents:  ${demo.proxy.url}/ng-rollout/<attempt>/v1`,
          `page:    ${demo.proxy.controlUrl}/inspector`,
          `worker:  ${demo.worker.url}/v1`,
          `control token: ${demo.controlToken}`,
          'Ctrl-C ends them.',
        ].join('\n'),
      );
      closeWithGrace({ logger: false }, () => demo.close());
    });
}
