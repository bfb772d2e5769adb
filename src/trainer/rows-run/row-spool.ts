import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** So many bytes of rows wait in memory for the rest of their group; more wait in a temporary file. */
const KEPT_BYTES = 16 * 1024 * 1024;

/**
 * Rows of a group that wait for its last rollout, since only then their advantages are known. Keeps the memory of a run that of one rollout, whatever
 * the size of the group. `close` removes the temporary file.
 */
export class RowSpool {
  private readonly lengths: number[] = [];
  private kept: Buffer[] = [];
  private keptBytes = 0;
  private overflow: { readonly folder: string; readonly fd: number } | null = null;

  add(text: string): void {
    const bytes = Buffer.from(text);
    this.lengths.push(bytes.length);
    this.kept.push(bytes);
    this.keptBytes += bytes.length;
    if (this.keptBytes > KEPT_BYTES) this.flush();
  }

  /** The texts in the order in which they were added. */
  *read(): IterableIterator<Buffer> {
    const onDisk = this.lengths.length - this.kept.length;
    let offset = 0;
    for (const [at, length] of this.lengths.entries()) {
      if (at >= onDisk) {
        yield this.kept[at - onDisk] as Buffer;
        continue;
      }
      const bytes = Buffer.allocUnsafe(length);
      for (let read = 0; read < length; ) {
        const got = readSync(this.overflow?.fd as number, bytes, read, length - read, offset + read);
        if (got === 0) throw new Error('the temporary file of rows ended early');
        read += got;
      }
      offset += length;
      yield bytes;
    }
  }

  close(): void {
    if (this.overflow === null) return;
    closeSync(this.overflow.fd);
    rmSync(this.overflow.folder, { recursive: true, force: true });
    this.overflow = null;
  }

  private flush(): void {
    if (this.overflow === null) {
      const folder = mkdtempSync(join(tmpdir(), 'rows-spool-'));
      this.overflow = { folder, fd: openSync(join(folder, 'rows'), 'wx+', 0o600) };
    }
    for (const bytes of this.kept) {
      for (let written = 0; written < bytes.length; ) written += writeSync(this.overflow.fd, bytes, written);
    }
    this.kept = [];
    this.keptBytes = 0;
  }
}
