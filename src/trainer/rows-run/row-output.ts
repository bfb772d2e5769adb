import { type FileHandle, open } from 'node:fs/promises';

/** Where finished lines of rows go. */
export interface RowOutput {
  write(text: string | Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** A file that is written anew. Throws where it cannot be. */
export async function fileOutput(path: string): Promise<RowOutput> {
  const file: FileHandle = await open(path, 'w');
  return {
    async write(text) {
      await file.writeFile(text);
    },
    close: () => file.close(),
  };
}

/** Nowhere: rows are counted, explained, and not printed. */
export const noOutput: RowOutput = { write: () => Promise.resolve(), close: () => Promise.resolve() };
