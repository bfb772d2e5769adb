import { setFlagsFromString } from 'node:v8';

/**
 * Sets what V8 by default does otherwise than a service like this one needs; the figures are in docs/performance.md. These flags are read whenever they matter, so they
 * can be set while running.
 *
 * Memory: it holds little, but every call leaves bodies behind, and V8 by default lets the heap grow to many times of what lives before it collects. An old generation
 * that is collected after growing by 175 % is a good trade of time for memory; a smaller growth costs more than it saves. Threads that are started from here on, that of
 * the SQLite ledger, get a small young generation: what they leave behind is small. The main thread's was made when the process started.
 *
 * The young generation is collected when it is full, not by a task of its own when it is four fifths full: that makes a fifth less collections. One thread does it: what
 * lives in it is a megabyte, and several threads spend more on sharing that than they save, the more so where a replica has one core.
 *
 * Time: every call runs through the same functions, so they are compiled for good after 600 runs, not after 3,000, which a replica has only after 12,000 calls.
 */
export function setV8Flags(): void {
  setFlagsFromString('--heap-growing-percent=175');
  setFlagsFromString('--max-semi-space-size=4');
  setFlagsFromString('--no-minor-gc-task');
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--invocation-count-for-turbofan=600');
}
