import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the resident memory of the service small: it holds little, but every call leaves bodies behind, and V8 by default lets the heap grow to many times of what
 * lives before it collects. A young generation that stays as it is at start, and an old one that is collected after growing to twice its size, cost less time than
 * they save in memory; a smaller growth costs more than it saves (docs/performance.md). Both flags are read at every collection, so they can be set while running.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
}
