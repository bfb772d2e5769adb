import { startReferenceWorker } from '../src/reference-worker/reference-worker.ts';
import { type LoadOptions, runLoad } from './load.ts';

/** The other core: instant worker and load in one process, told what to do by its parent. */
const worker = await startReferenceWorker({ instant: {}, models: ['policy'] });
process.send?.({ workerUrl: worker.url });
process.on('message', async (options: LoadOptions) => {
  try {
    process.send?.({ result: await runLoad(options) });
  } catch (error) {
    process.send?.({ error: (error as Error).message });
  }
});
process.on('disconnect', () => process.exit(0));
