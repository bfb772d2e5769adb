import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type PackedAnswer, type PackedJob, packAnswers, unpackJob } from './packing.ts';
import { Store } from './store.ts';
import { type Job, runTogether } from './transactions.ts';

/**
 * The thread that owns the file. Messages in: lists of jobs; everything that has arrived while the last transaction was written goes into the next one.
 * Messages out: lists of answers in the same order. The first one says whether the file could be opened.
 */
export interface ThreadData {
  readonly path: string;
  readonly replies: { readonly keepBytes: number; readonly keepS: number };
  readonly port: MessagePort;
}

export type Opened = { readonly opened: true } | { readonly opened: false; readonly message: string };
export type ToThread = readonly PackedJob[] | 'close';
export type FromThread = readonly PackedAnswer[] | Opened | 'closed';

const ROWS_PER_CLEARING = 200;
const { path, replies, port } = workerData as ThreadData;

function main(): void {
  const post = (message: FromThread) => port.postMessage(message);
  let store: Store;
  try {
    store = new Store(path, replies);
  } catch (error) {
    post({ opened: false, message: (error as Error).message });
    port.close();
    return;
  }
  post({ opened: true });
  port.on('message', (first: ToThread) => {
    const jobs: Job[] = [];
    let closing = false;
    for (let message: ToThread | undefined = first; message !== undefined; message = receive()) {
      if (message === 'close') closing = true;
      else for (const job of message) jobs.push(unpackJob(job));
    }
    if (jobs.length > 0) post(packAnswers(runTogether(store, jobs)));
    if (jobs.some(({ name }) => name === 'retire' || name === 'delete' || name === 'sweep')) clearLater(store);
    if (!closing) return;
    store.db.close();
    post('closed');
    port.close();
  });
}

const receive = () => receiveMessageOnPort(port)?.message as ToThread | undefined;

let isClearing = false;

/** Clears removed rows in portions, other jobs in between. */
function clearLater(store: Store): void {
  if (isClearing) return;
  isClearing = true;
  setImmediate(() => {
    isClearing = false;
    if (!store.db.isOpen) return;
    const [answer] = runTogether(store, [{ id: 0, name: 'clearDoomed', args: [ROWS_PER_CLEARING], nowS: store.nowS }]);
    // A failure is met again by the next sweep, which starts this anew.
    if (answer && 'value' in answer && answer.value === true) clearLater(store);
  });
}

main();
