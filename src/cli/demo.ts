import closeWithGrace from 'close-with-grace';
import { Command } from 'commander';
import { runDemo, startDemo } from '../demo/run-demo.ts';

/** `gym-model-proxy demo`: the main job on embedded defaults. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('run worker, proxy and an example agent: five calls become two training rows')
    .option('--keep', 'leave worker and proxy running afterwards')
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
