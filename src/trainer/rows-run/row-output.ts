import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';

/** Where finished lines of rows go. */
export interface RowOutput {
  write(text: string | Uint8Array): Promise<void>;
  /** All rows are written. */
  finish(): Promise<void>;
  /** There will be no more: what was written is of no use. */
  discard(): Promise<void>;
}

/** A file that is written anew, beside the one of its name, which it replaces when it is whole. Throws where it cannot be. */
export async function fileOutput(path: string): Promise<RowOutput> {
  // Devices and pipes cannot be replaced.
  const before = await stat(path).catch(() => null);
  const target = before === null || before.isFile() ? `${path}.part` : path;
  const file: FileHandle = await open(target, 'w');
  return {
    async write(text) {
      await file.writeFile(text);
    },
    async finish() {
      await file.close();
      if (target !== path) await rename(target, path);
    },
    async discard() {
      await file.close();
      if (target !== path) await rm(target);
    },
  };
}

/** Nowhere: rows are counted, explained, and not printed. */
export const noOutput: RowOutput = outputTo(() => Promise.resolve());

/** Where lines go at once. */
export function outputTo(write: RowOutput['write']): RowOutput {
  return { write, finish: () => Promise.resolve(), discard: () => Promise.resolve() };
}
